/** A gRPC service by connect-node, and a page that calls it. Argument: the port. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { create } from '@bufbuild/protobuf'
import { Code, ConnectError } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { Trees } from './trees.mjs'

const answer = (value) => create(Trees.method.name.output, { value })

const grpc = connectNodeAdapter({
  routes(router) {
    router.service(Trees, {
      name({ value }) {
        if (value === 'unknown') throw new ConnectError('no such tree', Code.NotFound)
        return answer(`tree ${value}`)
      },
      async *list({ value }) {
        for (let i = 1; i <= Number(value); i++) yield answer(`tree ${i}`)
      },
    })
  },
})
const page = '<!doctype html><script type="module" src="/bundle.js"></script>'
createServer((request, response) => {
  if (request.url === '/') response.setHeader('content-type', 'text/html').end(page)
  else if (request.url === '/bundle.js')
    response.setHeader('content-type', 'text/javascript').end(readFileSync('bundle.js'))
  else grpc(request, response)
}).listen(Number(process.argv[2]), '127.0.0.1')
