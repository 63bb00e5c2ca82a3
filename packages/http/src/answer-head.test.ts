import type { IncomingMessage } from 'node:http'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkHeaders, readAnswerHead, readSwitchHead, UnusableAnswer, writeHead } from './answer-head.ts'

const said = (statusCode: number, statusMessage = 'OK', rawHeaders: string[] = []) =>
  ({ statusCode, statusMessage, rawHeaders }) as IncomingMessage

it.each([0, 99, 100, 101, 103, 199, 600, 999, NaN, 200.5, -1])('status %s is no final answer', (status) =>
  expect(() => readAnswerHead(said(status))).toThrow(UnusableAnswer),
)
it.each([0, 200, 100, 102, 999])('status %s agrees to no other protocol', (status) =>
  expect(() => readSwitchHead(said(status))).toThrow(UnusableAnswer),
)
it.each(['a\u0001b', 'a\r\nb', '\u0000', '\u007f', 'x'.repeat(257), '\u0100'])('%j is no reason phrase', (reason) =>
  expect(() => readAnswerHead(said(200, reason))).toThrow(UnusableAnswer),
)
it.each([
  [['', 'x']],
  [['a b', 'x']],
  [['a:', 'x']],
  [['a\r\n', 'x']],
  [['é', 'x']],
  [['a', 'x\r\ny: z']],
  [['a', '\u0000']],
  [['a', '\u0100']],
  [['a']],
  [Array.from({ length: 514 }, () => 'x')],
  [['a', 'x'.repeat(32 * 1024)]],
])('%j is no header list', (headers) => expect(() => checkHeaders(headers)).toThrow(UnusableAnswer))

it('a checked head is written unchanged, byte for byte', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string()), (reason, headers) => {
      let head
      try {
        head = readAnswerHead(said(200, reason, headers))
      } catch (error) {
        if (error instanceof UnusableAnswer) return
        throw error
      }
      const lines = writeHead(head).split(/\r\n|\r|\n/)
      expect(lines).toHaveLength(1 + headers.length / 2 + 2)
    }),
  )
})

it('an answer that never has a body has no length', () => {
  expect(readAnswerHead(said(204, '', ['Content-Length', '5', 'X-Own', '1'])).headers).toEqual(['X-Own', '1'])
  expect(readAnswerHead(said(304, '', ['Content-Length', '5'])).headers).toEqual(['Content-Length', '5'])
})
