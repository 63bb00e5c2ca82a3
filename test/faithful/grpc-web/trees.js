/** The service that both sides know: a name for a text, and a stream of names. */
import { create, createFileRegistry } from '@bufbuild/protobuf'
import {
  file_google_protobuf_wrappers,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'

const text = '.google.protobuf.StringValue'
const file = create(FileDescriptorProtoSchema, {
  name: 'orchard.proto',
  package: 'orchard',
  syntax: 'proto3',
  dependency: ['google/protobuf/wrappers.proto'],
  service: [
    {
      name: 'Trees',
      method: [
        { name: 'Name', inputType: text, outputType: text },
        { name: 'List', inputType: text, outputType: text, serverStreaming: true },
      ],
    },
  ],
})
const registry = createFileRegistry(
  create(FileDescriptorSetSchema, { file: [file_google_protobuf_wrappers.proto, file] }),
)
export const Trees = registry.getService('orchard.Trees')
