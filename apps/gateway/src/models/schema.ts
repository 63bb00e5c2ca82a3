import { z } from 'zod'

export const modelName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'A name has lower-case letters, digits and . _ -, at most 64 characters.')

/** The name of a model's file: `sources.eye.model` has other meanings for two names. */
export const addedModelName = modelName.refine(
  (name) => name !== 'none' && name !== 'demonstration',
  'No model can be named none or demonstration.',
)

export const sha256Text = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-f]{64}$/, 'A SHA-256 has 64 hexadecimal digits.')

/** Names of ONNX Runtime. `cpu` is in every runtime; the others open where the runtime and the machine have them. */
export const executionProvider = z.enum(['cpu', 'cuda', 'tensorrt', 'openvino', 'dml', 'coreml', 'webgpu'])
export type ExecutionProvider = z.output<typeof executionProvider>

/** Models of TensorFlow.js that the gateway can convert: it knows how their boxes are decoded. */
export const MODEL_FAMILIES = ['ssdlite-mobilenet-v2', 'nanodet-g'] as const
export type ModelFamily = (typeof MODEL_FAMILIES)[number]
