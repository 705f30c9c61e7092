/* GGUF headers for tests: of any model, in either byte order, whole, in parts, or with one thing wrong. */
#ifndef ULB_TESTS_GGUF_WRITER_H
#define ULB_TESTS_GGUF_WRITER_H

#include "shapes/gguf_stream.h"
#include "shapes/model.h"

#include <stddef.h>
#include <stdint.h>

struct gguf_writer {
    uint8_t *bytes;
    size_t n, capacity;
    bool big_endian;
    uint64_t pairs, tensors;
};

/* Begins a file: magic, version and room for the counts, which gguf_close() writes. */
void gguf_open(struct gguf_writer *w, unsigned version, bool big_endian);
void gguf_close(struct gguf_writer *w);
void gguf_free(struct gguf_writer *w);

/* A number of so many bytes, and a string with its length. */
void gguf_raw(struct gguf_writer *w, uint64_t value, size_t bytes);
void gguf_text(struct gguf_writer *w, const char *text);

/* A metadata key and what type its value has; the value follows. Those below write both. */
void gguf_key(struct gguf_writer *w, const char *key, enum ulb_gguf_type type);
void gguf_u32(struct gguf_writer *w, const char *key, unsigned value);
void gguf_f32(struct gguf_writer *w, const char *key, float value);
void gguf_string(struct gguf_writer *w, const char *key, const char *value);
void gguf_list(struct gguf_writer *w, const char *key, const unsigned *values, size_t n);

/* All metadata that the architecture of a model has, and its tensors of one block (or of none, for -1): those
 * outside blocks are the last one's. */
void gguf_metadata(struct gguf_writer *w, const struct ulb_model *model, const char *architecture);
void gguf_block(struct gguf_writer *w, const struct ulb_model *model, unsigned block);
void gguf_outside(struct gguf_writer *w, const struct ulb_model *model);
void gguf_tensor(struct gguf_writer *w, const char *name, unsigned type, size_t k, size_t m, size_t stack);
void gguf_tensor_of(struct gguf_writer *w, const char *name, unsigned type, const size_t *dims, unsigned n);

/* The whole header. */
void gguf_model(struct gguf_writer *w, const struct ulb_model *model, const char *architecture);

/* The path of a new file with these bytes in the folder; name is "x.gguf". */
void gguf_save(const struct gguf_writer *w, const char *folder, const char *name, char path[256]);

#endif
