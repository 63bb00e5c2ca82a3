/** The zones, masks and object masks of a camera while a person draws them, with undo for every step. */
import { useState } from 'react'
import type { CameraChange, CameraSettings } from '@hedgerow/contract/device-interface'
import type { Polygon } from './polygon.ts'

export type DrawnShape = { key: string; kind: 'zone' | 'mask' | 'object mask'; name: string; polygon: Polygon }

export type Drawing = {
  shapes: readonly DrawnShape[]
  canUndo: boolean
  /** `goesOn`: part of the same step, such as a corner that is still being dragged. */
  change(shapes: readonly DrawnShape[], goesOn?: boolean): void
  undo(): void
  /** Starts again with the settings of the file. */
  reset(settings: CameraSettings): void
  /** Resets, unless other shapes than the `saved` ones were drawn meanwhile. */
  finish(saved: readonly DrawnShape[], settings: CameraSettings): void
}

type State = { now: readonly DrawnShape[]; past: readonly (readonly DrawnShape[])[] }

const STEPS_MAX = 200

export function useDrawing(settings: CameraSettings): Drawing {
  const [{ now, past }, setState] = useState<State>(() => ({ now: shapesOf(settings), past: [] }))
  return {
    shapes: now,
    canUndo: past.length > 0,
    change: (shapes, goesOn = false) =>
      setState((before) => ({
        now: shapes,
        past: goesOn ? before.past : [...before.past, before.now].slice(-STEPS_MAX),
      })),
    undo: () => setState((before) => ({ now: before.past.at(-1) ?? before.now, past: before.past.slice(0, -1) })),
    reset: (changed) => setState({ now: shapesOf(changed), past: [] }),
    finish: (saved, changed) =>
      setState((before) => (before.now === saved ? { now: shapesOf(changed), past: [] } : before)),
  }
}

function shapesOf({ zones, masks, objectMasks }: CameraSettings): DrawnShape[] {
  const unnamed = (kind: DrawnShape['kind'], polygons: readonly Polygon[]) =>
    polygons.map((polygon): DrawnShape => ({ key: newKey(), kind, name: '', polygon }))
  return [
    ...Object.entries(zones).map(([name, polygon]): DrawnShape => ({ key: newKey(), kind: 'zone', name, polygon })),
    ...unnamed('mask', masks),
    ...unnamed('object mask', objectMasks),
  ]
}

let keys = 0

export function newKey(): string {
  return `shape-${++keys}`
}

/** In the form of gateway.yaml. */
export function changeOf(shapes: readonly DrawnShape[]): CameraChange {
  const corners = ({ polygon }: DrawnShape) => polygon.map(([x, y]): [number, number] => [x, y])
  const zones = shapes.filter(({ kind }) => kind === 'zone')
  const cornersOf = (wanted: DrawnShape['kind']) => shapes.filter(({ kind }) => kind === wanted).map(corners)
  return {
    zones: Object.fromEntries(zones.map((zone) => [zone.name.trim(), corners(zone)])),
    masks: cornersOf('mask'),
    objectMasks: cornersOf('object mask'),
  }
}

/** Errors in words, by the key of the zone. */
export function nameProblems(shapes: readonly DrawnShape[]): ReadonlyMap<string, string> {
  const zones = shapes.filter(({ kind }) => kind === 'zone')
  return new Map(
    zones.flatMap(({ key, name }): [string, string][] => {
      if (!NAME.test(name.trim())) return [[key, 'Letters, digits, spaces and . _ -']]
      return zones.some((other) => other.key !== key && other.name.trim() === name.trim())
        ? [[key, 'Another zone has this name.']]
        : []
    }),
  )
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}$/
