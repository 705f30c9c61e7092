/* OpenCL by name at run time: nothing of it is needed to build, install or start the program. For the process
 * of a device alone (device_process.h). */
#ifndef ULB_HARNESS_OPENCL_OPENCL_LOADER_H
#define ULB_HARNESS_OPENCL_OPENCL_LOADER_H

#include "common/status.h"
#include "harness/opencl/device_process.h"

#define CL_TARGET_OPENCL_VERSION          300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* the queue that every version makes */
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS /* the sub-groups of an extension */
#include <CL/cl.h>
#include <CL/cl_ext.h>

#define ULB_OPENCL_CALLS(X)                                                                                  \
    X(clGetPlatformIDs)                                                                                      \
    X(clGetPlatformInfo)                                                                                     \
    X(clGetDeviceIDs)                                                                                        \
    X(clGetDeviceInfo)                                                                                       \
    X(clGetExtensionFunctionAddressForPlatform)                                                              \
    X(clCreateContext)                                                                                       \
    X(clReleaseContext)                                                                                      \
    X(clCreateCommandQueue)                                                                                  \
    X(clReleaseCommandQueue)                                                                                 \
    X(clCreateBuffer)                                                                                        \
    X(clCreateSubBuffer)                                                                                     \
    X(clReleaseMemObject)                                                                                    \
    X(clCreateProgramWithSource)                                                                             \
    X(clBuildProgram)                                                                                        \
    X(clGetProgramBuildInfo)                                                                                 \
    X(clReleaseProgram)                                                                                      \
    X(clCreateKernel)                                                                                        \
    X(clGetKernelWorkGroupInfo)                                                                              \
    X(clReleaseKernel)                                                                                       \
    X(clSetKernelArg)                                                                                        \
    X(clEnqueueNDRangeKernel)                                                                                \
    X(clEnqueueReadBuffer)                                                                                   \
    X(clEnqueueWriteBuffer)                                                                                  \
    X(clEnqueueCopyBuffer)                                                                                   \
    X(clGetEventProfilingInfo)                                                                               \
    X(clReleaseEvent)                                                                                        \
    X(clFinish)

#define ULB_OPENCL_MEMBER(name) __typeof__(name) *name;
struct ulb_opencl {
    void *library;
    ULB_OPENCL_CALLS(ULB_OPENCL_MEMBER)
};
#undef ULB_OPENCL_MEMBER

/* Loads libOpenCL.so.1, then the drivers of the folder of vendors one by one, so that a bad one is named; one
 * that cannot be loaded becomes a "note". ULB_ENVIRONMENT where there is no loader or no driver. All stays
 * loaded: drivers do not expect to be unloaded. */
enum ulb_status ulb_opencl_load(struct ulb_opencl *cl, struct ulb_device_link *link, struct ulb_error *err);

/* The folder of vendors, as the loader finds it: OCL_ICD_VENDORS, or /etc/OpenCL/vendors. */
const char *ulb_opencl_vendors(void);

/* "CL_OUT_OF_RESOURCES"; "error -1234" for one without a name here. */
const char *ulb_opencl_error_name(cl_int error, char text[32]);

#endif
