#include "plots/report/html.h"

#include <math.h>

void ulb_html_text(FILE *out, const char *text)
{
    if (!text)
        text = "-";
    for (; *text; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            /* Control characters are no HTML. */
            putc((unsigned char)*text < ' ' && *text != '\n' ? ' ' : *text, out);
        }
    }
}

void ulb_html_cell(FILE *out, const char *text)
{
    fputs("<td>", out);
    ulb_html_text(out, text);
}

void ulb_html_number(FILE *out, const char *format, double value)
{
    char text[48] = "";
    if (isfinite(value))
        snprintf(text, sizeof text, format, value);
    fprintf(out, "<td class=n>%s", text);
}
