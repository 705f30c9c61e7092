/* A table of made-up renamings, which a program that links this file reads in the place of
 * results/record/renamed.csv. */
extern const unsigned char ulb_renamed_csv[];
const unsigned char ulb_renamed_csv[] = "# Made up.\n"
                                        "kind,old,new\n"
                                        "kernel,int8a8-plain-ref-1x1x1,int8a8-scalar-ref-1x1x1\n"
                                        "kernel,int2a8-shuffle-avx2-32x1x4,int2a8-pshufb-avx2-32x1x4\n"
                                        "kernel,bf16f32-muladd-avx2-32x1x2,bf16f32-fma-avx2-32x1x2\n"
                                        "layout,mixed,vnni4-interleaved\n"
                                        "key,cells.rate,gbps\n"
                                        "key,beta.yardstick.reader,variant\n"
                                        "key,gamma.source,cycles_source\n";
