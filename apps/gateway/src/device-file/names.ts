/** All places of gateway.yaml where a name stands. */
import type { DeviceFile } from './schema.ts'
import type { Place } from './yaml.ts'

/**
 * `cameras`: where a zone or a label must be known; undefined for all cameras. `name`: nothing provides it, or the rest
 * of the file does.
 */
type What =
  | { what: 'name' }
  | { what: 'camera' | 'listed camera' | 'model' | 'camera of Frigate' | 'label of the eye' | 'deterrent' }
  | { what: 'watching camera'; deterrent: string }
  | { what: 'zone' | 'label'; cameras: readonly string[] | undefined }
export type NamedThing = What & { name: string; path: (string | number)[] }
/** `shown`: the name as it is written in the file. */
export type PlacedName = NamedThing & Place & { shown: string }

export function namesOf(file: DeviceFile): NamedThing[] {
  const { applications, cameras, deterrents, disarmInput, learning, rules, secondLook, sources } = file
  const found: NamedThing[] = []
  function add(what: What, names: readonly string[] | undefined, ...path: NamedThing['path']): void {
    for (const [index, name] of (names ?? []).entries()) found.push({ ...what, name, path: [...path, index] })
  }
  const addOne = (what: What, name: string | undefined, ...path: NamedThing['path']) =>
    name !== undefined && found.push({ ...what, name, path })

  for (const [name, { url }] of Object.entries(cameras))
    if (url === undefined) addOne({ what: 'listed camera' }, name, 'cameras', name)
  add({ what: 'name' }, sources.eye?.cameras, 'sources', 'eye', 'cameras')
  add({ what: 'label of the eye' }, sources.eye?.labels, 'sources', 'eye', 'labels')
  addOne({ what: 'model' }, sources.eye?.model, 'sources', 'eye', 'model')
  add({ what: 'camera of Frigate' }, sources.frigate?.cameras, 'sources', 'frigate', 'cameras')
  add({ what: 'label', cameras: undefined }, secondLook?.labels, 'secondLook', 'labels')
  addOne({ what: 'model' }, secondLook?.model, 'secondLook', 'model')
  addOne({ what: 'name' }, secondLook?.endpoint?.model, 'secondLook', 'endpoint', 'model')
  for (const [deterrent, settings] of Object.entries(deterrents)) {
    addOne({ what: 'deterrent' }, deterrent, 'deterrents', deterrent)
    add({ what: 'watching camera', deterrent }, settings.watchedBy, 'deterrents', deterrent, 'watchedBy')
    if ('chip' in settings) addOne({ what: 'name' }, String(settings.chip), 'deterrents', deterrent, 'chip')
  }
  addOne({ what: 'name' }, disarmInput?.chip, 'disarmInput', 'chip')
  for (const [application, { title }] of Object.entries(applications))
    addOne({ what: 'name' }, title, 'applications', application, 'title')
  for (const [index, rule] of rules.entries()) {
    addOne({ what: 'name' }, rule.name, 'rules', index, 'name')
    add({ what: 'name' }, rule.fire, 'rules', index, 'fire')
    add({ what: 'label', cameras: rule.cameras }, rule.labels, 'rules', index, 'labels')
    add({ what: 'camera' }, rule.cameras, 'rules', index, 'cameras')
    add({ what: 'zone', cameras: rule.cameras }, rule.zones, 'rules', index, 'zones')
  }
  for (const [camera, labels] of Object.entries(learning.alsoLearn)) {
    addOne({ what: 'camera' }, camera, 'learning', 'alsoLearn', camera)
    add({ what: 'label', cameras: [camera] }, labels, 'learning', 'alsoLearn', camera)
  }
  return found
}
