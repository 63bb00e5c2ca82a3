/**
 * A vision endpoint which answers and misbehaves as real ones do: the OpenAI-compatible API of Ollama and llama.cpp.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export type VisionAnswer =
  /** The text of the model's answer. */
  | { content: unknown; ending?: string }
  | { refusal: string }
  | { status: number; headers?: Record<string, string>; body?: string }
  /** Any body, unchanged. */
  | { body: string | Buffer }
  /** Never answers. */
  | 'late'

export type AskedQuestion = { headers: IncomingHttpHeaders; path: string; text: string; jpeg: Buffer; body: object }

export type VisionServer = {
  url: string
  questions: AskedQuestion[]
  /** Its answers from now on. */
  answer: VisionAnswer | ((question: AskedQuestion) => VisionAnswer | Promise<VisionAnswer>)
  stop(): Promise<void>
}

export const says = (shown: 'yes' | 'no' | 'unsure', reason: string, confidence = 0.9): { content: string } => ({
  content: JSON.stringify({ reason, shown, confidence }),
})

export async function startVisionServer(answer: VisionServer['answer']): Promise<VisionServer> {
  const server = createServer((request, response) => {
    void json(request).then(async (body) => {
      const { messages } = body as { messages: { content: { text?: string; image_url?: { url: string } }[] }[] }
      const parts = messages.at(-1)!.content
      const picture = parts.find(({ image_url: url }) => url)?.image_url?.url ?? ''
      const question = {
        headers: request.headers,
        path: request.url ?? '',
        text: parts.find(({ text }) => text !== undefined)?.text ?? '',
        jpeg: Buffer.from(picture.slice(picture.indexOf(',') + 1), 'base64'),
        body: body as object,
      }
      vision.questions.push(question)
      send(response, typeof vision.answer === 'function' ? await vision.answer(question) : vision.answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const vision: VisionServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    questions: [],
    answer,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return vision
}

function send(response: ServerResponse, answer: VisionAnswer): void {
  if (answer === 'late') return
  if ('status' in answer) {
    response.writeHead(answer.status, answer.headers).end(answer.body ?? '{"error":{"message":"no"}}')
    return
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  if ('body' in answer) response.end(answer.body)
  else {
    const message =
      'refusal' in answer
        ? { role: 'assistant', content: null, refusal: answer.refusal }
        : { role: 'assistant', content: answer.content }
    const ending = 'refusal' in answer ? 'stop' : (answer.ending ?? 'stop')
    response.end(
      JSON.stringify({ id: 'x', object: 'chat.completion', choices: [{ index: 0, finish_reason: ending, message }] }),
    )
  }
}
