import type { IncomingMessage, ServerResponse } from 'node:http'

/** Sends a short answer in UTF-8; for HEAD only its head. */
export function sendText(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'content-length': Buffer.byteLength(body) })
  response.end(request.method === 'HEAD' ? undefined : body)
}
