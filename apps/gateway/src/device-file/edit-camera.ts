/** The edits of `gateway.yaml` that change one camera's settings, or add a camera. */
import { isDeepStrictEqual } from 'node:util'
import type { CameraChange } from '@hedgerow/contract/device-interface'
import type { Edit } from './edit-text.ts'

/** `settings`: the values as they are written. The result may have errors, such as a rule without its zone. */
export function cameraEdits(settings: unknown, name: string, change: CameraChange): Edit[] {
  const camera = readIn(settings, ['cameras', name])
  // What is empty is not written where there is nothing.
  const isNothing = (key: string, value: unknown) =>
    typeof value === 'object' && Object.keys(value ?? {}).length === 0 && !Object.hasOwn(recordOf(camera), key)
  return Object.entries(change)
    .filter(([key, value]) => !isNothing(key, value))
    .map(([key, value]) => ({
      path: ['cameras', name, key],
      value: Array.isArray(value) ? inOrderOf(listOf(readIn(camera, [key])), value) : value,
    }))
}

/** A file without an eye gets one that looks at the camera. */
export function newCameraEdits(settings: unknown, name: string, url: string): Edit[] {
  const eye = ['sources', 'eye', 'cameras']
  const watched = listOf(readIn(settings, eye))
  const added = { path: ['cameras', name, 'url'], value: url }
  return watched.includes(name) ? [added] : [added, { path: [...eye, watched.length], value: name }]
}

export function hasCamera(settings: unknown, name: string): boolean {
  return Object.hasOwn(recordOf(readIn(settings, ['cameras'])), name)
}

/** The order of masks has no meaning, so masks that stay keep their place and their comment. */
function inOrderOf(before: readonly unknown[], wanted: readonly unknown[]): unknown[] {
  const isAmong = (list: readonly unknown[]) => (one: unknown) => list.some((other) => isDeepStrictEqual(one, other))
  return [...before.filter(isAmong(wanted)), ...wanted.filter((one) => !isAmong(before)(one))]
}

function readIn(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => recordOf(at)[key], value)
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
