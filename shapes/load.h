/* Internal to shapes/: readers of files that describe a model. They fill in everything but the names, do not
 * check what ulb_model_check() does, and name no file in their messages. */
#ifndef ULB_SHAPES_LOAD_H
#define ULB_SHAPES_LOAD_H

#include "shapes/model.h"

/* Adds one thing to what the model says was derived: "head_dim = hidden / heads". */
void ulb_model_note(struct ulb_model *model, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A config.json, a folder that holds one, or a GGUF file; by what it begins with, not by its name. Checked,
 * named after the file, and messages begin with the path. */
enum ulb_status ulb_model_load_file(const char *path, struct ulb_model *model, struct ulb_error *err);

/* The bytes of a file of at most ULB_INDEX_BYTES_MAX, to be freed. */
enum ulb_status ulb_file_text(const char *path, char **text, size_t *bytes, struct ulb_error *err);

/* A safetensors file, or the index of several in one folder. What lies beside it in config.json is used. */
enum ulb_status ulb_safetensors_model(const char *path, bool index, struct ulb_model *model,
                                      struct ulb_error *err);

/* True for classes of transformers that have no head: "MistralModel", "Qwen2ForRewardModel". */
bool ulb_class_is_headless(const char *name);

/* "FOLDER/NAME"; false where it is too long. */
enum { ULB_PATH_BYTES = 4096 };
bool ulb_path_join(char out[ULB_PATH_BYTES], const char *folder, const char *name);

/* What a folder holds: the file that describes its model, and the tensors beside it ("": none). Of a hub
 * cache's root the snapshot that refs/main names. */
struct ulb_folder {
    char file[ULB_PATH_BYTES], tensors[ULB_PATH_BYTES];
};
enum ulb_status ulb_folder_read(const char *path, struct ulb_folder *folder, struct ulb_error *err);

/* The text of a config.json of Hugging Face, or of the reference implementations of Llama, Mistral and
 * DeepSeek. */
enum ulb_status ulb_config_parse(const char *text, size_t bytes, struct ulb_model *model,
                                 struct ulb_error *err);

/* The header of a GGUF file of version 2 or 3 and either byte order. fd: of a regular file; path: where the
 * other parts of a model in several files are looked for. Reads at most ULB_GGUF_HEADER_MAX bytes of each. */
enum { ULB_GGUF_HEADER_MAX = 64 << 20 };
enum ulb_status ulb_gguf_read(int fd, const char *path, struct ulb_model *model, struct ulb_error *err);

#endif
