/** Finds the model runtime. It is large and installed on request, beside the program or in the model's folder. */
import { join } from 'node:path'

/** Name of the runtime's folder in the model's folder. */
export const RUNTIME_FOLDER = 'runtime'

export interface ModelRuntime {
  onnx: string
  tokenizers: string
}

/** Returns the paths of the runtime's modules. Null when it is not installed. */
export function findModelRuntime(modelFolder: string): ModelRuntime | null {
  for (const from of [import.meta.dir, join(modelFolder, RUNTIME_FOLDER)]) {
    try {
      return {
        onnx: Bun.resolveSync('onnxruntime-node', from),
        tokenizers: Bun.resolveSync('@huggingface/tokenizers', from),
      }
    } catch {}
  }
  return null
}
