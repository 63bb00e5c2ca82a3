import { NativeSelect, TextInput } from '@mantine/core'
import type { DeterrentField } from '@hedgerow/contract/deterrent-setup'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'

type DriverFieldsProps = {
  fields: readonly DeterrentField[]
  values: Readonly<Record<string, string | boolean>>
  errorOf: (key: string) => string | undefined
  onChange: (key: string, value: string | boolean) => void
}

/** The fields of a driver, made of its keys in gateway.yaml. */
export function DriverFields({ fields, values, errorOf, onChange }: DriverFieldsProps) {
  const isSecure = /^(?:http|mqtt)s:/.test(String(values['address'] ?? values['broker'] ?? ''))
  return fields.map((field) => {
    const { key, type, options, usual, isRequired, isSecret } = field
    const value = values[key]
    if (key === 'verifyCertificate' && !isSecure) return null
    if (type === 'switch')
      return (
        <TickBox key={key} checked={(value ?? usual) === true} onChange={(isOn) => onChange(key, isOn)}>
          {labelOf(key)}
        </TickBox>
      )
    const common = {
      label: labelOf(key),
      description: plain(field.description),
      value: typeof value === 'string' ? value : '',
      required: isRequired,
      error: errorOf(key),
      onChange: (event: { currentTarget: { value: string } }) => onChange(key, event.currentTarget.value),
    }
    if (type === 'choice')
      return (
        <NativeSelect
          key={key}
          {...common}
          value={common.value || (typeof usual === 'string' ? usual : '')}
          data={[...(usual === null ? [{ value: '', label: 'Choose' }] : []), ...options]}
        />
      )
    if (isSecret)
      return (
        <PasswordField
          key={key}
          {...common}
          description={`${common.description} \${NAME} stands for a variable of the agent.`.trim()}
          showLabel={`Show ${labelOf(key).toLowerCase()}`}
          autoComplete="off"
          maxLength={1_000}
        />
      )
    return (
      <TextInput
        key={key}
        {...common}
        placeholder={usual === null ? '' : String(usual)}
        inputMode={type === 'number' ? 'numeric' : 'text'}
        autoComplete="off"
        spellCheck={false}
        maxLength={1_000}
      />
    )
  })
}

/** `verifyCertificate` is `Verify certificate`. */
export function labelOf(key: string): string {
  if (key === 'apiKey') return 'API key'
  const words = key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const plain = (description: string) => description.replaceAll('`', '')
