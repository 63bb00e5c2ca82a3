/** Changes one camera's settings in the text of `gateway.yaml`: comments and everything else stay. */
import { isDeepStrictEqual } from 'node:util'
import type { CameraChange } from '@hedgerow/contract/device-interface'
import { append, deleteIn, setIn, type Path } from './edit-text.ts'
import { documentOf } from './yaml.ts'

/** Throws NotEditable. The result may have errors, such as a rule without its zone: check it before it is saved. */
export function editCamera(text: string, name: string, change: CameraChange): string {
  const at = (...rest: string[]): Path => ['cameras', name, ...rest]
  let edited = text
  const { zones, masks, objectMasks, ...values } = change
  for (const [key, value] of Object.entries(values)) if (value !== undefined) edited = setIn(edited, at(key), value)
  if (zones) edited = editZones(edited, at('zones'), zones)
  if (masks) edited = editMasks(edited, at('masks'), masks)
  if (objectMasks) edited = editMasks(edited, at('objectMasks'), objectMasks)
  return edited
}

/** Adds a camera that the eye looks at; a file without an eye gets one. Throws NotEditable. */
export function addCamera(text: string, name: string, url: string): string {
  const added = setIn(text, ['cameras', name, 'url'], url)
  const watched: Path = ['sources', 'eye', 'cameras']
  return listOf(readIn(added, watched)).includes(name) ? added : append(added, watched, name)
}

export function hasCamera(text: string, name: string): boolean {
  return Object.hasOwn(recordOf(readIn(text, ['cameras'])), name)
}

function editZones(text: string, path: Path, zones: NonNullable<CameraChange['zones']>): string {
  const before = recordOf(readIn(text, path))
  let edited = text
  for (const [name, polygon] of Object.entries(zones))
    if (!isDeepStrictEqual(before[name], polygon)) edited = setIn(edited, [...path, name], polygon)
  for (const name of Object.keys(before)) if (!Object.hasOwn(zones, name)) edited = deleteIn(edited, [...path, name])
  return edited
}

/** The order of masks has no meaning, so masks that stay keep their place and their comment. */
function editMasks(text: string, path: Path, masks: NonNullable<CameraChange['masks']>): string {
  const before = listOf(readIn(text, path))
  const isAmong = (list: readonly unknown[]) => (one: unknown) => list.some((other) => isDeepStrictEqual(one, other))
  let edited = text
  for (const added of masks.filter((mask) => !isAmong(before)(mask))) edited = append(edited, path, added)
  for (const [index, mask] of [...before.entries()].toReversed())
    if (!isAmong(masks)(mask)) edited = deleteIn(edited, path, index)
  return edited
}

function readIn(text: string, path: Path): unknown {
  const plain: unknown = documentOf(text).toJS()
  return path.reduce<unknown>((value, key) => recordOf(value)[key], plain)
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
