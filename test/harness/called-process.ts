/** Calls by name into a child process, so that the measured code has a process and processor time of its own. */
import { fork } from 'node:child_process'
import { once } from 'node:events'

type Handlers = Record<string, (argument: never) => unknown>
type Call = { id: number; name: string; argument: unknown }
type Answer = { id: number; result?: unknown; error?: string }

export type CalledProcess<Served extends Handlers> = {
  call<Name extends keyof Served>(
    name: Name,
    argument: Parameters<Served[Name]>[0],
  ): Promise<Awaited<ReturnType<Served[Name]>>>
  stop(): Promise<void>
}

/** In the child: answers calls until its parent ends. */
export function serve(handlers: Handlers): void {
  process.on('message', ({ id, name, argument }: Call) => {
    Promise.resolve()
      .then(() => handlers[name]?.(argument as never))
      .then(
        (result) => process.send?.({ id, result } satisfies Answer),
        (error: unknown) => process.send?.({ id, error: String(error) } satisfies Answer),
      )
  })
  process.on('disconnect', () => process.exit())
}

/** In the parent. The child may collect garbage on request, so that the remaining memory can be counted. */
export function startCalledProcess<Served extends Handlers>(script: string): CalledProcess<Served> {
  const child = fork(script, { execArgv: ['--expose-gc'] })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let nextId = 0
  child.on('message', ({ id, result, error }: Answer) => {
    const { resolve, reject } = waiting.get(id)!
    waiting.delete(id)
    if (error === undefined) resolve(result)
    else reject(new Error(error))
  })
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${script} ended with ${code}`))
  })
  return {
    async call(name, argument) {
      const id = nextId++
      const answer = Promise.withResolvers<unknown>()
      waiting.set(id, answer)
      child.send({ id, name: String(name), argument } satisfies Call)
      return (await answer.promise) as never
    },
    async stop() {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
