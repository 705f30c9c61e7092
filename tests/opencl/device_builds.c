/* Writes the sources of device kernels into a folder, and prints what each kernel with a matrix instruction
 * is built with for sub-groups of so many lanes: name, source, rows, tokens and steps of its tile, words of a
 * step, options.
 *
 * usage: device_builds FOLDER LANES */
#include "kernels/opencl/device_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_source(const char *folder, const struct ulb_device_file *file)
{
    const unsigned char *const texts[] = {ulb_opencl_lanes, ulb_opencl_matrix, file->source,
                                          ulb_opencl_product};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, file->name);
    FILE *out = fopen(path, "w");
    for (size_t i = 0; i < sizeof texts / sizeof *texts && out; i++)
        fputs((const char *)texts[i], out);
    if (!out || fclose(out) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

static void print_build(const struct ulb_device_file *file, const struct ulb_device_kernel *kernel,
                        enum ulb_device_path path, unsigned lanes)
{
    char name[ULB_KERNEL_NAME_MAX], options[320];
    const struct ulb_device_tile *tile = &kernel->tile;
    const size_t words = ulb_layout_tile_bytes(kernel->layout) / (4 * kernel->layout->tile_m);
    ulb_device_options(kernel, path, lanes, false, options, sizeof options);
    printf("%s %s %u %u %u %zu %s\n", ulb_device_kernel_name(kernel, path, name), file->name, tile->rows,
           tile->tokens, tile->steps, words, options);
}

/* The fused kernel of the file's first layout with tiles that reuse a quantised block 2 and 4 times. */
static void print_reuse(const struct ulb_device_file *file, unsigned lanes)
{
    static const struct ulb_device_tile tiles[] = {
        {2, 16, 1, 1}, {4, 16, 1, 1}, {4, 32, 1, 1}, {8, 16, 1, 1}};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        struct ulb_device_kernel kernel = file->kernels[0];
        kernel.tile = tiles[i];
        print_build(file, &kernel, ULB_PATH_DPAS_INT2, lanes);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return EXIT_FAILURE;
    const unsigned lanes = (unsigned)atoi(argv[2]);
    for (const struct ulb_device_file *const *file = ulb_device_files; *file; file++) {
        write_source(argv[1], *file);
        for (size_t i = 0; i < (*file)->n; i++) {
            for (int path = 0; path < ULB_PATH_DP4A; path++) {
                if ((*file)->kernels[i].paths >> path & 1)
                    print_build(*file, &(*file)->kernels[i], (enum ulb_device_path)path, lanes);
            }
        }
        if (lanes == 16 && strcmp((*file)->name, "int2.cl") == 0)
            print_reuse(*file, lanes);
    }
    return EXIT_SUCCESS;
}
