#include "common/build_id.h"

#include "common/mem.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NOTE_GRAIN = 4 };
static const char owner[] = "GNU";

/* Notes stand one after the other, each with its name and its text padded (elf(5)). */
static const unsigned char *find_id(const unsigned char *notes, size_t bytes, size_t *length)
{
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
        ElfW(Nhdr) note;
        memcpy(&note, notes + at, sizeof note);
        size_t name = at + sizeof note, text = name + ulb_round_up(note.n_namesz, NOTE_GRAIN);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof owner &&
            memcmp(notes + name, owner, sizeof owner) == 0) {
            *length = note.n_descsz;
            return notes + text;
        }
        at = text + ulb_round_up(note.n_descsz, NOTE_GRAIN);
    }
    return NULL;
}

/* The first object is the program itself. */
static int take_id(struct dl_phdr_info *object, size_t size, void *out)
{
    (void)size;
    const unsigned char *id = NULL;
    size_t length = 0;
    for (size_t i = 0; i < object->dlpi_phnum && !id; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE)
            id = find_id((const unsigned char *)(uintptr_t)(object->dlpi_addr + segment->p_vaddr),
                         segment->p_memsz, &length);
    }
    char *digits = out;
    for (size_t i = 0; i < length && 2 * i + 2 < ULB_BUILD_ID_MAX; i++)
        snprintf(digits + 2 * i, 3, "%02x", id[i]);
    return 1;
}

const char *ulb_build_id(char out[ULB_BUILD_ID_MAX])
{
    out[0] = '\0';
    dl_iterate_phdr(take_id, out);
    return *out ? out : NULL;
}

size_t ulb_commit_length(const char *commit)
{
    static const char dirty[] = "-dirty";
    const size_t length = strlen(commit), mark = sizeof dirty - 1;
    return length > mark && strcmp(commit + length - mark, dirty) == 0 ? length - mark : length;
}
