/** Finds the files of an ONNX model in a folder, before anything loads them. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** In order of preference. An int8 model is as good for this purpose and a quarter of the size. */
const MODEL_NAMES = ['model.onnx', 'model_int8.onnx', 'model_quantized.onnx', 'model_uint8.onnx']

/** What the folder lacks, in words that follow "it"; null when it is complete. */
export function findModelFolderProblem(folder: string): string | null {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return 'is not a folder'
  if (!findModelFile(folder)) return 'holds no .onnx file'
  return existsSync(join(folder, 'tokenizer.json')) ? null : 'holds no tokenizer.json'
}

export function findModelFile(folder: string): string | null {
  const places = [folder, join(folder, 'onnx')]
  for (const name of MODEL_NAMES) {
    const found = places.map(place => join(place, name)).find(file => existsSync(file))
    if (found) return found
  }
  const others = places.filter(place => existsSync(place)).flatMap(place => readdirSync(place).map(n => join(place, n)))
  return others.toSorted().find(file => file.endsWith('.onnx')) ?? null
}
