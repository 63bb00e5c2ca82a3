import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

/**
 * A server in a process of its own, which fails in the way that a request's path names, and sends requests to itself.
 */
const program = (path: string) => `
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
const { createConnectionLimits, createFaults, createFront } =
    await import(${JSON.stringify(import.meta.resolve('./index.ts'))})
let count = 0
const faults = createFaults({ onFault: () => count++, report: (error) => console.log('report ' + error.message) })
faults.guardProcess()
const broken = (code) => Object.assign(new Error('broken'), { code })
const ways = {
  '/timer': () => setTimeout(() => { throw broken() }, 5),
  '/promise': () => { setImmediate(() => Promise.reject(broken())) },
  '/emitter': () => setTimeout(() => connect(1, '127.0.0.1'), 5),
  '/runtime': () => setTimeout(() => { throw broken('ERR_INTERNAL_ASSERTION') }, 5),
  '/well': (response) => response.end('well'),
}
const server = createFront({
  limits: createConnectionLimits({ perSource: 10, total: 10, sourceOf: (address) => address }),
  faults,
  handle: (request, response) => ways[request.url]?.(response),
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const ask = (path) => {
  const socket = connect(server.address().port, '127.0.0.1').on('error', () => {})
  socket.write('GET ' + path + ' HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')
  return text(socket)
}
if (${JSON.stringify(path)} === 'outside') setTimeout(() => { throw broken() }, 5)
else for (let i = 0; i < 3; i++) console.log('answer ' + JSON.stringify(await ask(${JSON.stringify(path)})))
console.log((await ask('/well')).endsWith('well') ? 'well ' + count : 'not well')
if (${JSON.stringify(path)} !== 'outside') process.exit()
`

async function run(path: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(path)])
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { lines: output.trim().split('\n'), errors, code: code as number }
}

it.each(['/timer', '/promise', '/emitter'])(
  'an error in work that a connection started ends that connection: %s',
  async (path) => {
    const { lines, code } = await run(path)
    expect(lines.filter((line) => line.startsWith('answer'))).toEqual(['answer ""', 'answer ""', 'answer ""'])
    expect(lines.filter((line) => line.startsWith('report'))).toHaveLength(1)
    expect(lines.at(-1)).toBe('well 3')
    expect(code).toBe(0)
  },
)

it.each(['outside', '/runtime'])('any other error ends the process, and says so: %s', async (path) => {
  const { errors, code } = await run(path)
  expect(code).toBe(1)
  expect(errors).toContain('Error: broken')
})
