/* Counting the loop over K of a disassembly, and what its limits are. */
#include "harness/opencl/device_offline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* An outer loop, a loop with both matrix instructions, and one that ends before the second. */
static const char assembly[] =
    "L0:\n"
    "        mov (16|M0)              r1.0<1>:d     r2.0<1;1,0>:d\n"
    "L16:\n"
    "        add (16|M0)              r1.0<1>:d     r2.0<1;1,0>:d\n"
    "L32:\n"
    "(W)     send.ugm (1|M0)          r4       r3      null:0  0x0  0x02  {$1} // wr:1+0, rd:4; load\n"
    "        dpas.8x8 (16|M0)         r138:d        r138:d            r9:s2             r14.0:b\n"
    "(W&f0.0) jmpi                                L32\n"
    "        dpas.8x2 (16|M0)         r139:d        r139:d            r9:s2             r15.0:b\n"
    "        send.slm (16|M0)         null     r7      r8:1   0x0  0x02  {$2} // wr:1+2, rd:0; store\n"
    "\n"
    "(~f0.0) mul (16|M0)              r1.0<1>:f     r2.0<1;1,0>:f\n"
    "(f0.1)  goto.b (16|M0)                       L9999                  L16\n"
    "L9999:\n"
    "(W)     jmpi                                 L0\n"
    "        send.gtwy (1|M0)         null     r1      null:0  0x0  0x02  {EOT}\n";

static struct ulb_error err;

static void test_count(void **state)
{
    (void)state;
    struct ulb_device_loop loop;
    assert_int_equal(ulb_offline_parse(assembly, strlen(assembly), &loop, &err), ULB_OK);
    assert_true(loop.matrix == 2 && loop.matrix_tokens == 10);
    assert_true(loop.messages == 2 && loop.registers == 6);
    assert_true(loop.vector == 4); /* add, jmpi, mul, goto */
    struct ulb_device_loop_bound bound = ulb_device_loop_bound(&loop);
    assert_true(bound.cycles[ULB_DEVICE_MATRIX] == 20 && bound.cycles[ULB_DEVICE_VECTOR] == 4);
    assert_true(bound.cycles[ULB_DEVICE_MESSAGES] == 6 && bound.limit == ULB_DEVICE_MATRIX);
    loop.vector = 21;
    assert_int_equal(ulb_device_loop_bound(&loop).limit, ULB_DEVICE_VECTOR);
    loop.registers = 22;
    assert_string_equal(ulb_device_limit_name(ulb_device_loop_bound(&loop).limit), "messages");
}

/* Text of no such loop, cut at every byte, ends with an error or a count and reads nothing behind its end. */
static void test_cut(void **state)
{
    (void)state;
    struct ulb_device_loop loop;
    for (size_t bytes = 0; bytes < strlen(assembly); bytes++) {
        enum ulb_status status = ulb_offline_parse(assembly, bytes, &loop, &err);
        assert_true(status == ULB_OK || strstr(err.message, "no loop of the disassembly"));
        assert_true(status != ULB_OK || loop.matrix >= 1);
    }
    assert_int_equal(ulb_offline_parse("dpas\n  dpas\n jmpi L\n", 20, &loop, &err), ULB_ENVIRONMENT);
}

static void test_lanes(void **state)
{
    (void)state;
    assert_int_equal(ulb_offline_lanes("dg2-g10"), 8);
    assert_int_equal(ulb_offline_lanes("arl-h"), 8);
    assert_int_equal(ulb_offline_lanes("pvc"), 16);
    assert_int_equal(ulb_offline_lanes("bmg-g21"), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
