import { gatewayTexts, type GatewayText } from '@hedgerow/contract/gateway-fields'
import { Textarea, TextInput } from '@mantine/core'

/** The input of a gateway's text; `input` is from the form's `getInputProps`. */
export function GatewayTextInput({ name, input }: { name: GatewayText; input: object }) {
  const { label, lines } = gatewayTexts[name]
  return lines === 1 ? <TextInput label={label} {...input} /> : <Textarea label={label} rows={lines} {...input} />
}
