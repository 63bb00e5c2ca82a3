import type { ModelSource } from './manifest.ts'

const APACHE = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' }
const square = (side: number) => ({ width: side, height: side })

/**
 * Models that can be added by name. Their files have no address here: a person who exports one, or downloads it from
 * its makers, names its place, and its hash is pinned then.
 */
export const KNOWN_MODELS: readonly ModelSource[] = [
  { name: 'yolox-nano', licence: APACHE, layout: 'yolox', size: square(416), labels: 'coco80' },
  { name: 'yolox-tiny', licence: APACHE, layout: 'yolox', size: square(416), labels: 'coco80' },
  { name: 'yolox-s', licence: APACHE, layout: 'yolox', size: square(640), labels: 'coco80' },
  { name: 'd-fine-n', licence: APACHE, layout: 'detr', size: square(640), labels: 'coco80' },
  { name: 'rt-detr-v2', licence: APACHE, layout: 'detr', size: square(640), labels: 'coco80' },
  { name: 'rf-detr-nano', licence: APACHE, layout: 'rf-detr', size: square(384), labels: 'coco91' },
]
