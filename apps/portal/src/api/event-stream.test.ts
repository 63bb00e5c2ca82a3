import { expect, it } from 'vitest'
import { createEventParser, pauseMs } from './event-stream.ts'

const STREAM = ': hello\n\nevent: change\ndata: {"topic":"gateways"}\n\ndata: one\ndata: two\r\n\r\n'

it('reads events and skips comments', () => {
  expect(createEventParser()(STREAM)).toEqual([
    { event: 'change', data: '{"topic":"gateways"}' },
    { event: 'message', data: 'one\ntwo' },
  ])
})

it('reads the same events wherever the stream is cut', () => {
  const whole = createEventParser()(STREAM)
  for (let cut = 1; cut < STREAM.length; cut++) {
    const parse = createEventParser()
    expect([...parse(STREAM.slice(0, cut)), ...parse(STREAM.slice(cut))], `cut at ${cut}`).toEqual(whole)
  }
})

it('holds an event back until it is complete', () => {
  const parse = createEventParser()
  expect(parse('event: change\ndata: x\n')).toEqual([])
  expect(parse('\n')).toEqual([{ event: 'change', data: 'x' }])
})

it('waits longer after each failure, at most half a minute, and differently in each browser', () => {
  expect([0, 1, 2, 3].map((failures) => pauseMs(failures, 0.999999))).toEqual([1_000, 2_000, 4_000, 8_000])
  expect(pauseMs(40, 0.999999)).toBe(30_000)
  expect(pauseMs(2, 0)).toBe(2_000)
})
