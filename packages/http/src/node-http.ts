/**
 * Node's HTTP/1. An `import` of `node:http` reads every one of its exports, and `WebSocket` among them loads undici,
 * HTTP/2 and the web streams: 6 MB that a process keeps resident though it uses none of them.
 */
export const { Agent, createServer, METHODS, request } = process.getBuiltinModule('node:http')
