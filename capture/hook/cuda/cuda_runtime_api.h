// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the headers of c10/cuda name of CUDA's, so that a hook can be compiled where CUDA's own headers are
// not: NVIDIA's wheels lack half of them. Values are CUDA's. A hook calls none of these functions; they take
// whatever a version of LibTorch gives them, and one that were called after all would not link (-z defs).
// clang-format off
enum cudaError_t { cudaSuccess = 0, cudaErrorNotReady = 600 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated };
enum { cudaUserObjectNoDestructorSync = 1, cudaGraphUserObjectMove = 1 };
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaUserObject_t = struct CUuserObject_st*;
using cudaHostFn_t = void (*)(void*);

const char* cudaGetErrorString(...);
cudaError_t cudaGetLastError();
cudaError_t cudaMalloc(...);
cudaError_t cudaFree(...);
cudaError_t cudaMemGetInfo(...);
cudaError_t cudaMemcpyAsync(...);
cudaError_t cudaDeviceGetStreamPriorityRange(...);
cudaError_t cudaStreamGetPriority(...);
cudaError_t cudaStreamQuery(...);
cudaError_t cudaStreamSynchronize(...);
cudaError_t cudaStreamIsCapturing(...);
cudaError_t cudaStreamGetCaptureInfo(...);
cudaError_t cudaStreamGetCaptureInfo_v2(...);
cudaError_t cudaThreadExchangeStreamCaptureMode(...);
cudaError_t cudaUserObjectCreate(...);
cudaError_t cudaUserObjectRelease(...);
cudaError_t cudaGraphRetainUserObject(...);
// clang-format on
