/* The process of a device: what it tells comes in order, and every way to end it gives one sentence and keeps
 * what was told before. */
#include "harness/opencl/device_process.h"

#include "harness/session/interrupted.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct heard {
    char text[256]; /* "key=value;" of everything */
};

static enum ulb_status hear(void *context, const char *key, json_t *value, struct ulb_error *err)
{
    struct heard *heard = context;
    size_t used = strlen(heard->text);
    (void)err;
    if (json_is_integer(value))
        snprintf(heard->text + used, sizeof heard->text - used, "%s=%lld;", key, json_integer_value(value));
    else
        snprintf(heard->text + used, sizeof heard->text - used, "%s=%s;", key, json_string_value(value));
    return ULB_OK;
}

static enum ulb_status refuse(void *context, const char *key, json_t *value, struct ulb_error *err)
{
    (void)context;
    (void)key;
    (void)value;
    return ulb_fail(err, ULB_ENVIRONMENT, "no room");
}

/* Says something, then ends as arg asks for. */
static enum ulb_status job(struct ulb_device_link *link, const void *arg, struct ulb_error *err)
{
    const char *end = arg;
    ulb_device_doing(link, strcmp(end, "hang") == 0 ? 0.3 : 30, "take another", "while it played %s", end);
    ulb_device_tell(link, "cell", json_integer(7));
    printf("a driver prints\n");
    fflush(stdout);
    if (strcmp(end, "crash") == 0)
        abort();
    if (strcmp(end, "exit") == 0)
        exit(0);
    while (strcmp(end, "hang") == 0 || strcmp(end, "wait") == 0)
        pause();
    if (strcmp(end, "fail") == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "it failed\x1b[31m");
    ulb_device_tell(link, "note", json_string("bell \a"));
    return ULB_OK;
}

static enum ulb_status run(const char *end, struct heard *heard, struct ulb_error *err)
{
    *heard = (struct heard){""};
    *err = (struct ulb_error){""};
    enum ulb_status status = ulb_device_run(job, end, hear, heard, err);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left behind */
    return status;
}

static void what_it_tells_comes_in_order_and_printable(void **state)
{
    struct heard heard;
    struct ulb_error err;
    (void)state;
    assert_int_equal(run("well", &heard, &err), ULB_OK);
    assert_string_equal(heard.text, "doing=while it played well;cell=7;note=bell ?;");
}

static void its_failure_is_that_of_the_run(void **state)
{
    struct heard heard;
    struct ulb_error err;
    (void)state;
    assert_int_equal(run("fail", &heard, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "it failed?[31m");
}

static void a_crash_an_exit_and_a_hang_are_said_and_what_was_told_is_kept(void **state)
{
    static const struct {
        const char *end, *message;
    } cases[] = {
        {"crash", "the OpenCL driver crashed (Aborted) while it played crash; take another"},
        {"exit", "the OpenCL driver ended its process by exit() while it played exit; take another"},
        {"hang", "the device did not come to an end within 0.3 s while it played hang; take another"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct heard heard;
        struct ulb_error err;
        assert_int_equal(run(cases[i].end, &heard, &err), ULB_ENVIRONMENT);
        assert_string_equal(err.message, cases[i].message);
        assert_non_null(strstr(heard.text, "cell=7;"));
    }
}

static void on_alarm(int number)
{
    (void)number;
    ulb_interrupted = 1;
}

static void a_signal_ends_it(void **state)
{
    struct heard heard;
    struct ulb_error err;
    (void)state;
    signal(SIGALRM, on_alarm);
    alarm(1);
    assert_int_equal(run("wait", &heard, &err), ULB_INTERRUPTED);
    ulb_interrupted = 0;
    assert_non_null(strstr(heard.text, "cell=7;"));
}

static void what_cannot_be_taken_ends_it(void **state)
{
    struct ulb_error err = {""};
    (void)state;
    assert_int_equal(ulb_device_run(job, "wait", refuse, NULL, &err), ULB_ENVIRONMENT);
    assert_string_equal(err.message, "no room");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_tells_comes_in_order_and_printable),
        cmocka_unit_test(its_failure_is_that_of_the_run),
        cmocka_unit_test(a_crash_an_exit_and_a_hang_are_said_and_what_was_told_is_kept),
        cmocka_unit_test(a_signal_ends_it),
        cmocka_unit_test(what_cannot_be_taken_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
