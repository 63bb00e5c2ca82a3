import { expect, test } from 'vitest'
import type { Room } from './facts/room.ts'
import { listRooms } from './open-rooms.ts'

const seen: string[] = []
const note = (text: string) => () => void seen.push(text)

/** A room with one task that starts and one that runs from the beginning. */
function room(name: string): Room {
  seen.push(`open ${name}`)
  return {
    tasks: [{ start: note(`start ${name}`), stop: note(`end ${name}`) }, { stop: note(`cut ${name}`) }],
    onListening: note(`listening ${name}`),
    stop: note(`stop ${name}`),
  }
}

test('tasks start when all rooms are open, and everything stops in reverse', async () => {
  seen.length = 0
  const stack = new AsyncDisposableStack()
  const hub = await listRooms<{ port: number }>()
    .add(({ port }) => ({ ...room('a'), gives: { next: port + 1 } }))
    .add(({ next }) => ({ ...room(`b${next}`), gives: {} }))
    .open({ port: 1 }, stack)
  await hub.onListening()
  await stack.disposeAsync()
  const opening = ['open a', 'open b2', 'start a', 'start b2', 'listening a', 'listening b2']
  expect(seen).toEqual([...opening, 'cut b2', 'end b2', 'stop b2', 'cut a', 'end a', 'stop a'])
})

test('a room that does not open leaves nothing behind, and no task stops that did not start', async () => {
  seen.length = 0
  const stack = new AsyncDisposableStack()
  const opening = listRooms<object>()
    .add(() => room('a'))
    .add(() => Promise.reject(new Error('the port is taken')))
    .open({}, stack)
  await expect(opening).rejects.toThrow('the port is taken')
  await stack.disposeAsync()
  expect(seen).toEqual(['open a', 'cut a', 'stop a'])
})

test('nor does a task whose start failed', async () => {
  seen.length = 0
  const stack = new AsyncDisposableStack()
  const failing = { tasks: [{ start: () => Promise.reject(new Error('no rows')), stop: note('end b') }] }
  const opening = listRooms<object>()
    .add(() => room('a'))
    .add(() => failing)
    .open({}, stack)
  await expect(opening).rejects.toThrow('no rows')
  await stack.disposeAsync()
  expect(seen).toEqual(['open a', 'start a', 'cut a', 'end a', 'stop a'])
})
