/* What a launch costs that does nothing. */
kernel void empty(void)
{
}
