/* A liblikwid.so.5 that writes down how its marker API is called. */
#include <string.h>

char fake_likwid_calls[64];
void likwid_markerInit(void);
void likwid_markerClose(void);
int likwid_markerStartRegion(const char *name);
int likwid_markerStopRegion(const char *name);

void likwid_markerInit(void)
{
    strcat(fake_likwid_calls, "init ");
}

void likwid_markerClose(void)
{
    strcat(fake_likwid_calls, "close");
}

int likwid_markerStartRegion(const char *name)
{
    strcat(strcat(fake_likwid_calls, "+"), name);
    return 0;
}

int likwid_markerStopRegion(const char *name)
{
    strcat(strcat(strcat(fake_likwid_calls, "-"), name), " ");
    return 0;
}
