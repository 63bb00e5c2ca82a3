/**
 * Writes ONNX models: nodes, constants, inputs and outputs of one graph. Field numbers are those of onnx.proto (ONNX
 * 1.16, IR version 8).
 */
import { bytesField, floatField, integerField } from './protobuf.ts'

const IR_VERSION = 8
const OPERATOR_SET = 13
const FLOAT = 1
const INT64 = 7
const FLOAT16 = 10
const ATTRIBUTE_TYPES = { float: 1, integer: 2, text: 3, integers: 7 } as const

/** A number is an integer unless it is `{ float }`. */
export type Attribute = number | readonly number[] | string | { readonly float: number }

/** A length, or the name of an open one. */
export type Dimension = number | string

export class OnnxGraph {
  readonly #nodes: Buffer[] = []
  readonly #initialisers: Buffer[] = []
  readonly #inputs: Buffer[] = []
  readonly #outputs: Buffer[] = []
  #names = 0

  input(name: string, shape: readonly Dimension[]): string {
    this.#inputs.push(bytesField(11, valueInfo(name, shape)))
    return name
  }

  floats(values: ArrayLike<number>, shape: readonly number[]): string {
    const data = Buffer.from(Float32Array.from(values).buffer)
    return this.#constant(tensor(FLOAT, shape, data))
  }

  integers(values: readonly number[]): string {
    const data = Buffer.from(BigInt64Array.from(values, BigInt).buffer)
    return this.#constant(tensor(INT64, [values.length], data))
  }

  /**
   * Numbers of 16 bits stay so in the file, at half the size. The runtime widens them once, when it opens the model.
   */
  halves(values: Float16Array, shape: readonly number[]): string {
    const data = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
    return this.node('Cast', [this.#constant(tensor(FLOAT16, shape, data))], { to: FLOAT })
  }

  /** Adds a node of one output and returns the output's name. */
  node(operator: string, inputs: readonly string[], attributes: Readonly<Record<string, Attribute>> = {}): string {
    const name = this.#newName()
    this.#addNode(operator, inputs, name, attributes)
    return name
  }

  output(name: string, value: string, shape: readonly Dimension[]): void {
    this.#addNode('Identity', [value], name, {})
    this.#outputs.push(bytesField(12, valueInfo(name, shape)))
  }

  /** The bytes of the `.onnx` file. */
  toFile(): Buffer {
    const graph = [...this.#nodes, bytesField(2, 'graph'), ...this.#initialisers, ...this.#inputs, ...this.#outputs]
    return Buffer.concat([
      integerField(1, IR_VERSION),
      bytesField(7, graph),
      bytesField(8, [bytesField(1, ''), integerField(2, OPERATOR_SET)]),
    ])
  }

  #addNode(
    operator: string,
    inputs: readonly string[],
    output: string,
    attributes: Readonly<Record<string, Attribute>>,
  ): void {
    this.#nodes.push(
      bytesField(1, [
        ...inputs.map((input) => bytesField(1, input)),
        bytesField(2, output),
        bytesField(4, operator),
        ...Object.entries(attributes).map(([name, value]) => bytesField(5, attribute(name, value))),
      ]),
    )
  }

  #constant(body: Buffer[]): string {
    const name = this.#newName()
    this.#initialisers.push(bytesField(5, [...body, bytesField(8, name)]))
    return name
  }

  #newName(): string {
    return `v${this.#names++}`
  }
}

function valueInfo(name: string, shape: readonly Dimension[]): Buffer[] {
  const dimensions = shape.map((length) =>
    bytesField(1, typeof length === 'number' ? integerField(1, length) : bytesField(2, length)),
  )
  const type = bytesField(1, [integerField(1, FLOAT), bytesField(2, dimensions)])
  return [bytesField(1, name), bytesField(2, type)]
}

function tensor(type: number, shape: readonly number[], data: Buffer): Buffer[] {
  return [...shape.map((length) => integerField(1, length)), integerField(2, type), bytesField(9, data)]
}

function attribute(name: string, value: Attribute): Buffer[] {
  const [type, body] = attributeBody(value)
  return [bytesField(1, name), ...body, integerField(20, ATTRIBUTE_TYPES[type])]
}

function attributeBody(value: Attribute): [keyof typeof ATTRIBUTE_TYPES, Buffer[]] {
  if (typeof value === 'number') return ['integer', [integerField(3, value)]]
  if (typeof value === 'string') return ['text', [bytesField(4, value)]]
  if ('float' in value) return ['float', [floatField(2, value.float)]]
  return ['integers', value.map((each) => integerField(8, each))]
}
