import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { GREY, knownAnswerModel, RED, type KnownAnswerOptions } from '../../../test/harness/onnx/known-answers.ts'
import { createRgbImage, type LayoutName, type RgbImage } from '@hedgerow/vision'
import { bytesPath, manifestPath } from '../src/models/store.ts'

const SIZE = { width: 96, height: 64 }

/** Five classes; the red rectangle is of the fourth. */
export const KNOWN_LABELS = ['a', 'b', 'c', 'wild boar', null]

export type KnownModelOptions = Partial<KnownAnswerOptions> & {
  name?: string
  layout?: LayoutName
  labels?: readonly (string | null)[]
  /** Replaces the model's own bytes. */
  bytes?: Buffer
  sha256?: string
}

/** Puts a model into a device's folder that finds the red rectangle of a picture. */
export async function putKnownModel(folder: string, options: KnownModelOptions = {}): Promise<void> {
  const { name = 'known', layout = 'yolox', size = SIZE, labels = KNOWN_LABELS } = options
  const bytes = options.bytes ?? knownAnswerModel(layout, { ...options, size })
  const sha256 = options.sha256 ?? createHash('sha256').update(bytes).digest('hex')
  const manifest = { name, sha256, licence: { name: 'MIT' }, layout, size, labels }
  await mkdir(folder, { recursive: true })
  await writeFile(bytesPath(folder, { sha256 }), bytes)
  await writeFile(manifestPath(folder, name), JSON.stringify(manifest))
}

export type Rectangle = { x: number; y: number; width: number; height: number }

/** Grey, with a red rectangle, in pixels. */
export function redRectangle(width: number, height: number, { x, y, ...red }: Rectangle): RgbImage {
  const image = createRgbImage(width, height)
  image.data.fill(GREY)
  for (let row = y; row < y + red.height; row++)
    for (let column = x; column < x + red.width; column++) image.data.set(RED, row * image.stride + column * 3)
  return image
}
