/** Gives the page `nameOf`, one call by Google's grpc-web, and `list`, a stream of answers by connect-web. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { StringValueSchema } from '@bufbuild/protobuf/wkt'
import { createClient } from '@connectrpc/connect'
import { createGrpcWebTransport } from '@connectrpc/connect-web'
import { GrpcWebClientBase, MethodDescriptor, MethodType } from 'grpc-web'
import { Trees } from './trees.mjs'

const path = '/orchard.Trees/Name'
const method = new MethodDescriptor(
  path,
  MethodType.UNARY,
  Object,
  Object,
  (message) => toBinary(StringValueSchema, message),
  (bytes) => fromBinary(StringValueSchema, bytes),
)

window.nameOf = (value) =>
  new Promise((resolve) => {
    const asked = create(StringValueSchema, { value })
    new GrpcWebClientBase({ format: 'binary' }).rpcCall(path, asked, {}, method, (error, answer) =>
      resolve(error ? `${error.code} ${error.message}` : answer.value),
    )
  })

window.list = async (count) => {
  const got = []
  const client = createClient(Trees, createGrpcWebTransport({ baseUrl: location.origin }))
  for await (const { value } of client.list({ value: String(count) })) got.push(value)
  return got
}
