#include "kernels/plugin_loader.h"

#include "common/text.h"
#include "common/words.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The suite's own kernels, which ulb_kernels_unload() restores. */
static const struct ulb_kernel *const *own;
static size_t own_count;
static const struct ulb_kernel **all; /* own kernels and kernels of libraries; NULL: no library is loaded */

#define LOWER_AND_DIGITS "abcdefghijklmnopqrstuvwxyz0123456789"

static bool is_made_of(const char *text, const char *characters)
{
    return text && *text && text[strspn(text, characters)] == '\0';
}

/* A name is one lower-case word, so that regular expressions and records can separate names. */
static bool is_word(const char *text)
{
    return is_made_of(text, LOWER_AND_DIGITS);
}

/* CPU features that the ISA words of the suite's own kernels need. "any" and "base" need none. */
static const struct {
    const char *word;
    ulb_isa_set needs;
} isa_words[] = {
    {"ref", 0},
    {"any", 0},
    {"base", 0},
    {"avx2", ULB_ISA_AVX2},
    {"bmi2", ULB_ISA_BMI2},
    {"avx2gfni", ULB_ISA_AVX2 | ULB_ISA_GFNI},
    {"avxvnni", ULB_ISA_AVXVNNI},
    {"avxvnniint8", ULB_ISA_AVXVNNIINT8},
    {"avx512", ULB_ISA_AVX512F},
    {"avx512gfni", ULB_ISA_AVX512F | ULB_ISA_GFNI},
    {"avx512vnni", ULB_ISA_AVX512F | ULB_ISA_AVX512VNNI},
    {"avx512vnni256", ULB_ISA_AVX512F | ULB_ISA_AVX512VNNI},
    {"avx512vbmi", ULB_ISA_AVX512F | ULB_ISA_AVX512VBMI},
    {"avx512bf16", ULB_ISA_AVX512F | ULB_ISA_AVX512BF16},
    {"amxint8", ULB_ISA_AMXTILE | ULB_ISA_AMXINT8},
    {"amxint8gfni", ULB_ISA_AMXTILE | ULB_ISA_AMXINT8 | ULB_ISA_GFNI},
    {"amxbf16", ULB_ISA_AMXTILE | ULB_ISA_AMXBF16},
    {"neon", ULB_ISA_NEON},
    {"dotprod", ULB_ISA_DOTPROD},
    {"i8mm", ULB_ISA_I8MM},
    {"bf16", ULB_ISA_BF16},
    {"sve", ULB_ISA_SVE},
    {"svei8mm", ULB_ISA_SVEI8MM},
    {"svebf16", ULB_ISA_SVEBF16},
};
enum { ISA_WORDS = sizeof isa_words / sizeof *isa_words };

/* Whose kernel it is, for messages. */
struct place {
    const char *path;
    size_t i;
};

static enum ulb_status wrong(const struct place *place, struct ulb_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "mine.so: row 0: " and what is wrong. */
static enum ulb_status wrong(const struct place *place, struct ulb_error *err, const char *format, ...)
{
    char text[320];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ulb_fail(err, ULB_BAD_INPUT, "%.150s: kernel %zu: %s", place->path, place->i, text);
}

static enum ulb_status check_isa(const struct place *place, const struct ulb_kernel *kernel,
                                 struct ulb_error *err)
{
    char known[256] = "", missing[128];
    for (size_t i = 0; i < ISA_WORDS && kernel->isa; i++) {
        if (strcmp(kernel->isa, isa_words[i].word) != 0)
            continue;
        ulb_isa_set lacks = isa_words[i].needs & ~kernel->needs;
        return lacks == 0 ? ULB_OK
                          : wrong(place, err, "isa '%s' and needs without %s: it would run where that is not",
                                  kernel->isa, ulb_isa_names(lacks, missing, sizeof missing));
    }
    for (size_t i = 0; i < ISA_WORDS; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", isa_words[i].word);
    }
    return wrong(place, err, "isa '%.32s' must be one of %s", kernel->isa ? kernel->isa : "", known);
}

/* What the layout's kind needs and it lacks; NULL: nothing. */
static const char *lacks(const struct ulb_layout *layout)
{
    const struct ulb_layout_fields *fields = &layout->fields;
    switch (layout->kind) {
    case ULB_LAYOUT_FIELDS:
        return fields->bit_offset && (layout->format->floating || (fields->encode && fields->decode))
                   ? NULL
                   : "fields.bit_offset must be a function, and encode and decode where numbers are not "
                     "floating";
    case ULB_LAYOUT_TILES:
        return layout->tiles.pack && layout->tiles.unpack ? NULL
                                                          : "tiles.pack and tiles.unpack must be functions";
    case ULB_LAYOUT_IN_PLACE:
        return NULL;
    case ULB_LAYOUT_INTERLEAVED:
        return layout->interleaved.rows && layout->interleaved.lanes > 0
                   ? NULL
                   : "interleaved.rows and interleaved.lanes must be set";
    case ULB_LAYOUT_BLOCKS:
        return layout->blocks.pack && layout->blocks.unpack
                   ? NULL
                   : "blocks.pack and blocks.unpack must be functions";
    }
    return "kind must be one of enum ulb_layout_kind";
}

static enum ulb_status check_encoding(const struct place *place, const struct ulb_layout *layout,
                                      struct ulb_error *err)
{
    const char *lacking = lacks(layout);
    if (lacking)
        return wrong(place, err, "layout->%s", lacking);
    if ((layout->kind >= ULB_LAYOUT_IN_PLACE) != (layout->format->block != NULL))
        return wrong(place, err, "layout->kind %d does not go with a format %s blocks", (int)layout->kind,
                     layout->format->block ? "of" : "without");
    if (layout->kind != ULB_LAYOUT_FIELDS && layout->tile_bytes == 0)
        return wrong(place, err, "layout->tile_bytes 0 must be the bytes of a tile");
    return ULB_OK;
}

static enum ulb_status check_layout(const struct place *place, const struct ulb_layout *layout,
                                    struct ulb_error *err)
{
    if (!layout)
        return wrong(place, err, "layout must be one of the suite's or your own, not NULL");
    if (!is_made_of(layout->name, LOWER_AND_DIGITS "._-"))
        return wrong(place, err, "layout->name must be lower-case letters, digits, '.', '_' and '-'");
    if (!layout->format || !is_made_of(layout->format->name, LOWER_AND_DIGITS "._"))
        return wrong(place, err, "layout->format->name must be lower-case letters, digits, '.' and '_'");
    if (layout->format->summary && !ulb_text_is_printable(layout->format->summary))
        return wrong(place, err, "layout->format->summary must be one line of printable text");
    if (layout->tile_m == 0 || layout->tile_k == 0)
        return wrong(place, err, "layout->tile_m %u and tile_k %u must be at least 1", layout->tile_m,
                     layout->tile_k);
    return check_encoding(place, layout, err);
}

static enum ulb_status check_sizes(const struct place *place, const struct ulb_kernel *kernel,
                                   struct ulb_error *err)
{
    const struct ulb_layout *layout = kernel->layout;
    if ((unsigned)kernel->activation >= ULB_ACTIVATIONS)
        return wrong(place, err, "activation %d must be one of enum ulb_activation", (int)kernel->activation);
    if (kernel->mr == 0 || kernel->mr % layout->tile_m != 0)
        return wrong(place, err, "mr %u must be a multiple of the layout's tile_m, %u", kernel->mr,
                     layout->tile_m);
    if (kernel->nr == 0)
        return wrong(place, err, "nr 0 must be at least 1, the tokens of a register tile");
    if (kernel->kr == 0 || kernel->kr % layout->tile_k != 0)
        return wrong(place, err, "kr %u must be a multiple of the layout's tile_k, %u", kernel->kr,
                     layout->tile_k);
    if (!(kernel->bytes_per_step > 0 && kernel->bytes_per_step < 1e6))
        return wrong(place, err, "bytes_per_step %g must be the weight bytes per 32 weights, 32 * bits / 8",
                     kernel->bytes_per_step);
    if (!(kernel->tolerance >= 0 && kernel->tolerance < 1))
        return wrong(place, err, "tolerance %g must be 0 (bit-equal) or a small number", kernel->tolerance);
    if ((unsigned)kernel->prefetch.kind > ULB_PREFETCH_OWN_OR_NONE)
        return wrong(place, err, "prefetch.kind %d must be one of enum ulb_prefetch_kind",
                     (int)kernel->prefetch.kind);
    return ULB_OK;
}

static enum ulb_status check_fields(const struct place *place, const struct ulb_kernel *kernel,
                                    struct ulb_error *err)
{
    if (!kernel)
        return wrong(place, err, "it is NULL; n must be the number of rows");
    if (kernel->abi != ULB_KERNEL_ABI)
        return wrong(place, err, "abi %u must be ULB_KERNEL_ABI, %d", (unsigned)kernel->abi, ULB_KERNEL_ABI);
    if (!is_word(kernel->variant))
        return wrong(place, err, "variant '%.32s' must be one word of lower-case letters and digits",
                     kernel->variant ? kernel->variant : "");
    if (!kernel->run)
        return wrong(place, err, "run must be the kernel's function, not NULL");
    enum ulb_status status = check_isa(place, kernel, err);
    if (status == ULB_OK)
        status = check_layout(place, kernel->layout, err);
    return status == ULB_OK ? check_sizes(place, kernel, err) : status;
}

static enum ulb_status check_kernel(const char *path, const struct ulb_kernel *kernel, size_t i,
                                    struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX], other[ULB_KERNEL_NAME_MAX];
    const struct place place = {path, i};
    enum ulb_status status = check_fields(&place, kernel, err);
    if (status != ULB_OK)
        return status;
    ulb_kernel_name(kernel, name);
    for (size_t at = 0; at < ulb_kernel_count; at++) {
        if (strcmp(ulb_kernel_name(ulb_kernels[at], other), name) == 0)
            return ulb_fail(err, ULB_BAD_INPUT,
                            "%.300s: there is a kernel %s already; give its variant another name", path,
                            name);
    }
    return ULB_OK;
}

/* Appends the kernels, so that a name that comes twice in one library is found too. */
static enum ulb_status add_rows(const char *path, const struct ulb_kernel_library *library,
                                struct ulb_error *err)
{
    const struct ulb_kernel **more = realloc(all, (ulb_kernel_count + library->n) * sizeof *more);
    if (!more)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the kernels of %.300s", path);
    if (!all) {
        own = ulb_kernels;
        own_count = ulb_kernel_count;
        memcpy(more, own, own_count * sizeof *more);
    }
    ulb_kernels = all = more;
    size_t before = ulb_kernel_count;
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < library->n && status == ULB_OK; i++) {
        status = check_kernel(path, library->kernels[i], i, err);
        if (status == ULB_OK)
            all[ulb_kernel_count++] = library->kernels[i];
    }
    for (size_t i = before; i < ulb_kernel_count && status == ULB_OK; i++) {
        char name[ULB_KERNEL_NAME_MAX];
        if (!ulb_kernel_reference(all[i]))
            status =
                ulb_fail(err, ULB_BAD_INPUT,
                         "%.300s: %s has no scalar row (isa \"ref\") of its format and activations to be "
                         "checked against; add one",
                         path, ulb_kernel_name(all[i], name));
    }
    if (status != ULB_OK)
        ulb_kernel_count = before;
    return status;
}

static bool is_loaded(const struct ulb_kernel_library *library)
{
    for (size_t i = own_count; all && i < ulb_kernel_count; i++) {
        if (all[i] == library->kernels[0])
            return true;
    }
    return false;
}

/* What the loader says; want of memory, for which it has several words, is no fault of the file. */
static enum ulb_status refuse_object(const char *path, struct ulb_error *err)
{
    static const char *const words[] = {"llocate memory", "out of memory", "cannot create", "failed to map"};
    const char *said = dlerror();
    for (size_t i = 0; said && i < sizeof words / sizeof *words; i++) {
        if (strstr(said, words[i]))
            return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to load %.100s: %.300s", path, said);
    }
    return ulb_fail(err, ULB_BAD_INPUT, "no library of kernels: %.400s", said ? said : path);
}

static enum ulb_status load(const char *path, struct ulb_error *err)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return refuse_object(path, err);
    const struct ulb_kernel_library *library = dlsym(object, "ulb_kernel_library");
    enum ulb_status status = ULB_OK;
    if (!library)
        status = ulb_fail(err, ULB_BAD_INPUT,
                          "%.300s exports no ulb_kernel_library; see docs/ADDING_A_KERNEL.md", path);
    else if (library->abi != ULB_KERNEL_ABI)
        status =
            ulb_fail(err, ULB_BAD_INPUT,
                     "%.300s was built for version %u of the kernel interface, this program has version %d; "
                     "rebuild it against this program's headers",
                     path, (unsigned)library->abi, ULB_KERNEL_ABI);
    else if (library->n == 0 || !library->kernels)
        status = ulb_fail(err, ULB_BAD_INPUT, "%.300s has no kernels", path);
    else if (!is_loaded(library))
        status = add_rows(path, library, err);
    if (status != ULB_OK)
        dlclose(object);
    return status;
}

enum ulb_status ulb_kernels_load(const char *files, struct ulb_error *err)
{
    if (files[strspn(files, ",")] == '\0')
        return ulb_fail(err, ULB_BAD_INPUT, "no library of kernels is named");
    enum ulb_status status = ulb_words_differ("library of kernels", files, err);
    while (*files && status == ULB_OK) {
        char path[PATH_MAX];
        size_t length = strcspn(files, ",");
        /* A name without a slash is a file here, not one of the system's libraries. */
        int used =
            snprintf(path, sizeof path, "%s%.*s", memchr(files, '/', length) ? "" : "./", (int)length, files);
        if (used < 0 || (size_t)used >= sizeof path)
            status = ulb_fail(err, ULB_BAD_INPUT, "the name is too long: %.200s...", files);
        else if (length > 0)
            status = load(path, err);
        files += length + (files[length] == ',');
    }
    return status;
}

bool ulb_kernels_have_foreign(void)
{
    return all && ulb_kernel_count > own_count;
}

bool ulb_kernel_is_foreign(const struct ulb_kernel *kernel)
{
    for (size_t i = own_count; all && i < ulb_kernel_count; i++) {
        if (all[i] == kernel)
            return true;
    }
    return false;
}

void ulb_kernels_unload(void)
{
    if (!all)
        return;
    ulb_kernels = own;
    ulb_kernel_count = own_count;
    free(all);
    all = NULL;
}
