/** Why a model can't be used or added. `message` is a sentence for people; docs/operations/models.md explains codes. */
export class ModelError extends Error {
  override name = 'ModelError'
  readonly code: ModelErrorCode

  constructor(code: ModelErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

export type ModelErrorCode =
  | 'runtime_missing'
  | 'model_unknown'
  | 'model_manifest_invalid'
  | 'model_file_missing'
  | 'model_hash_mismatch'
  | 'model_unreadable'
  | 'model_shape'
  | 'model_failed'
  | 'provider_missing'
  | 'model_address_needed'
  | 'model_not_fetched'
  | 'model_too_large'
  | 'licence_not_accepted'
  | 'sha256_needed'
  | 'model_archive_invalid'
  | 'model_unsupported'
  | 'no_space'

/** The sentence with its code, for a problem or a terminal. */
export function inWords({ code, message }: Pick<ModelError, 'code' | 'message'>): string {
  return `${message} (${code})`
}
