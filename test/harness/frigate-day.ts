import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestFrigate } from './frigate.ts'

/**
 * A day of messages as the source of Frigate 0.18 would publish them (see frigate.ts), scene by scene, each on a camera
 * of its own. Times are seconds of that day; `9223372036854775807` is Frigate's end of an event that nobody ended.
 */
export type DayScene = { name: string; messages: DayMessage[] }
export type DayMessage = { at: number; topic: string; payload: string }

/** Larger numbers are no times of the day. */
const DAY_SECONDS = 86_400
const TIMES = /("(?:start_time|end_time|frame_time|thumb_time)":)(\d+(?:\.\d+)?)/g

export function readDay(): DayScene[] {
  const scenes = new Map<string, DayScene>()
  const lines = readFileSync(join(import.meta.dirname, 'frigate-day.jsonl'), 'utf8')
    .trim()
    .split('\n')
  for (const line of lines) {
    const { scene: name, at, topic } = JSON.parse(line) as { scene: string; at: number; topic: string }
    const scene = scenes.get(name) ?? { name, messages: [] }
    scenes.set(name, scene)
    // As text, because a program would round the largest numbers.
    scene.messages.push({ at, topic, payload: /"payload":(.*)\}$/.exec(line)![1]! })
  }
  return [...scenes.values()]
}

/** Publishes a message as if its time of the day was now. Returns the id of its object or item. */
export function play(frigate: TestFrigate, { at, topic, payload }: DayMessage): string {
  const shift = Date.now() / 1_000 - at
  const moved = payload.replaceAll(TIMES, (whole, key: string, time: string) =>
    Number(time) > DAY_SECONDS ? whole : `${key}${(Number(time) + shift).toFixed(3)}`,
  )
  frigate.publish(topic, moved)
  return (JSON.parse(payload) as { after: { id: string } }).after.id
}

export const DAY_CAMERAS = ['orchard', 'yard', 'gate', 'barn', 'pond', 'meadow', 'track', 'shed', 'wood', 'lane']
