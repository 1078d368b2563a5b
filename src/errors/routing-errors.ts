/** Catalogue entries for unknown paths, models and objects. */
import { defineErrors, type ErrorDefinition } from './error-definition.ts'

export const ROUTING_ERRORS = {
  ...defineErrors(404, 'not_found', {
    endpointNotProvided: {
      description: 'The path is an endpoint of OpenAI or Anthropic that the proxy does not have.',
      message: 'This proxy has no /v1/{endpoint}: it belongs to {api}. {advice}',
    },
    pathNotFound: {
      description: 'The path does not exist.',
      message:
        'There is nothing at this path. Requests go to /v1/chat/completions, /v1/responses, /v1/messages, /v1/completions, /v1/embeddings, /v1/images/…, /v1/audio/…, /v1/moderations, /v1/rerank, /v1/files, /v1/batches, /v1/models or /v1/health: set your client’s base URL so that it ends in /v1.',
    },
    fileNotFound: {
      description: 'The project has no file with this id.',
      message: 'No such File object: {id}',
      param: 'id',
    },
    fileOfAnotherProject: {
      description:
        'The request names a file of another project or, under a provider key that projects share, one that this project did not upload.',
      message:
        'No such File object: {param} names a file that this project did not upload. Upload it to POST /v1/files of this proxy, with a key of this project.',
      param: '{param}',
    },
    objectOfAnotherProject: {
      description:
        'The request refers to an object at the provider (a previous response, an item, a conversation, a container, a vector store, a voice) that another project created or used first.',
      message:
        'No such object: {param} refers to an object that this project did not create. Use the id of one of its own objects.',
      param: '{param}',
    },
    batchNotFound: {
      description: 'The project has no batch with this id.',
      message: "No batch found with id '{id}'.",
      param: 'id',
    },
    messageBatchesNeedKey: {
      description: 'The request concerns Anthropic’s message batches, but the project has stored no key for Anthropic.',
      message:
        'Message batches go to Anthropic, for which this project has stored no key. Store one, or upload a file of chat requests and POST /v1/batches.',
    },
    vendorHasNoStorage: {
      description:
        'The client selects a vendor for its files or batches, by its base URL or its headers, that stores none for this project.',
      message:
        'The base URL or headers of this request select {title}’s API, so /v1{path} is sent to {title} only. {missing}',
    },
    openAiKeyRequired: {
      description: 'Only OpenAI stores such objects, and the project has no key for OpenAI.',
      message: '/v1/{path} requires an OpenAI key of the project, and this project has stored none. Store one.',
    },
    openAiOnly: {
      description: 'Only OpenAI has this endpoint, and another provider serves the model.',
      message:
        '/v1/{path} accepts only native names of OpenAI’s models, under an OpenAI key of the project, and another provider serves this model. Send the whole conversation to POST /v1/responses.',
      param: 'model',
    },
    collectionOfAnotherVendor: {
      description: 'Only OpenAI stores such objects, and the client uses the API of another vendor.',
      message:
        '/v1/{path} is available only from OpenAI, and your client uses the API of {vendor} (by its base URL or its headers). Use a base URL that ends in /v1.',
    },
    openAiObjectNotFound: {
      description: 'The id belongs to another project.',
      message: "There is no object with id '{id}' in this project: it belongs to another project.",
      param: 'id',
    },
    responseNotFound: {
      description:
        '`/v1/responses/<id>` is requested, but the response is not stored for this key, and the project has no OpenAI key under which OpenAI could store it.',
      message:
        "Response with id '{id}' not found. Responses are stored for a week, for the key that created them, unless the request sets store: false; OpenAI stores those of its own models for projects with their own OpenAI key.",
      param: 'response_id',
    },
  }),
  socketUnsupported: {
    status: 426,
    code: 'websocket_not_supported',
    description: 'There is no WebSocket at the path.',
    message:
      'There is no WebSocket at this path; it accepts HTTP requests. Send POST /v1/responses, with stream: true for events, or open a Realtime API session at /v1/realtime.',
    headers: { upgrade: 'HTTP/1.1' },
  },
  methodNotAllowed: {
    status: 405,
    code: 'method_not_allowed',
    description: 'The path exists, but does not accept this method.',
    message: 'This path accepts only {methods}.',
    headers: { allow: '{allowed}' },
  },
  upgradeRequired: {
    status: 426,
    code: 'upgrade_required',
    description: 'The path is the Realtime API’s, but the request opens no WebSocket.',
    message: 'This path requires a WebSocket. Open one, for example with the realtime classes of OpenAI’s clients.',
    headers: { upgrade: 'websocket' },
  },
  realtimeModelMissing: {
    status: 400,
    code: 'invalid_request_error',
    description:
      'The URL of a realtime session has neither `model` nor, with the project’s own OpenAI key, `intent=transcription`. Telephone calls are not forwarded.',
    message: 'The URL names no model for the session. Use /v1/realtime?model=…',
    param: 'model',
  },
  ...defineErrors(404, 'model_not_found', {
    modelNotFound: {
      description: 'No provider that this key can use has a model of this name.',
      message:
        'Model {model} is not known. GET /v1/models lists what this key can use; any model of the aggregator is named <vendor>/<model>, for example openai/gpt-4o-mini.',
      param: 'model',
    },
    modelMisspelled: {
      description:
        'No provider that this key can use has a model of this name, but there are models with similar names.',
      message:
        'Model {model} is not known. Similar names: {near}. GET /v1/models lists what this key can use; any model of the aggregator is named <vendor>/<model>, for example openai/gpt-4o-mini.',
      param: 'model',
    },
    modelNeedsKey: {
      description:
        'The name is, or looks like, a provider’s native name, but the project has stored no key for that provider and no aggregator has the model.',
      message:
        'Model {model} is a native name of {providers}, for which this project has stored no key. Store one, or {alternative}.',
      param: 'model',
    },
    providerKeyRemoved: {
      description: 'The project’s key for the provider was deleted while the request was in progress.',
      message: "The project's {provider} key was deleted while this request was in progress.",
      param: 'model',
    },
    modelNotListed: {
      description: '`GET /v1/models/<name>` names a model that its provider is known to lack, or none has.',
      message: 'Model {model} is not in the catalogue. GET /v1/models lists what this key can use.',
      param: 'model',
    },
    storageKeyRemoved: {
      description: 'The file or batch was created with a provider key that the project has deleted since.',
      message:
        "This file or batch was created with the project's {provider} key, which has been deleted. Add that key again.",
      param: 'model',
    },
  }),
  modelNotAllowed: {
    status: 403,
    code: 'model_not_allowed',
    description: 'The project’s setting `allowed_models`, or the key’s, does not include the model.',
    message:
      'Model {model} is not allowed {where} allowed_models is {patterns}. GET /v1/models lists what this key can use.',
    param: 'model',
  },
  ...defineErrors(404, 'unsupported_endpoint', {
    endpointUnsupported: {
      description: 'The model’s provider does not have the endpoint.',
      message: "{vendor}'s models answer /v1/chat/completions, /v1/responses and /v1/messages, not /v1/{endpoint}.",
      param: 'model',
    },
    pathUnsupported: {
      description: 'The request would be forwarded unchanged, but the model’s provider does not have the endpoint.',
      message:
        '{vendor} has no /v1{path} here: name a model of another provider, whose key the project has stored or that the aggregator reaches.',
      param: 'model',
    },
  }),
  collectionNotPriced: {
    status: 400,
    code: 'model_not_priced',
    description: 'A budget applies, and the cost of the request at OpenAI cannot be estimated in advance.',
    message:
      'A budget applies, and the cost of this request to /v1/{path} cannot be estimated in advance. Such requests are forwarded only where no budget applies.',
  },
  ...defineErrors(400, 'invalid_request_error', {
    batchUploadInParts: {
      description: 'A batch’s input file is uploaded in parts.',
      message: 'A batch’s input file cannot be uploaded in parts: send it whole to POST /v1/files.',
      param: 'purpose',
    },
    objectOwnerUnknown: {
      description:
        'Under a provider key that projects share, the request refers to an object (a vector store, a container) that this project did not create through the proxy.',
      message:
        '{param} refers to an object stored at the provider under a key that projects share, and the proxy cannot tell which project owns it: send the whole conversation and its files, or store a provider key for this project.',
      param: '{param}',
    },
  }),
  previousResponseNotFound: {
    status: 404,
    code: 'previous_response_not_found',
    description:
      'A request continues a response that is not stored for its key: another key created it, its week has passed, it was deleted, or its request had `store: false` or an input above 256 KiB. Or a response before it is no longer stored.',
    message:
      "Previous response with id '{id}' not found, or a part of the conversation before it. Responses are stored for a week, for the key that created them, unless the request sets store: false or is longer than 256 KiB. Send the whole conversation as input.",
    param: 'previous_response_id',
  },
  responseUnfinished: {
    status: 409,
    code: 'response_not_finished',
    description: 'A request continues a background response that is still in progress.',
    message: "Response with id '{id}' is still in progress. Retrieve it by its id until its status is completed.",
    param: 'previous_response_id',
  },
  itemNotFound: {
    status: 404,
    code: 'item_not_found',
    description: 'A request refers to an item of a previous response that is not stored for its key.',
    message:
      "Item with id '{id}' not found. Items are stored for a week, for the key that created them, unless the request sets store: false. Send the item itself.",
    param: '{param}',
  },
  hitNotFound: {
    status: 404,
    code: 'request_not_found',
    description:
      'The feedback names no semantic hit or near miss of the last week within the sharing scope of its sender.',
    message:
      'No semantic hit or near miss with this request_id was found in the last week in your sharing scope. Send as request_id the X-Request-Id of a response with X-Proxy-Cache: HIT-SEMANTIC or X-Proxy-Cache-Near-Miss, with the same user and X-Proxy-Cache-Namespace as that request.',
    param: 'request_id',
  },
  hitExpired: {
    status: 404,
    code: 'entry_not_found',
    description: 'The feedback concerns a cache entry that has expired or was purged.',
    message: 'The cache entry that was served under this request_id is no longer stored and will not be served again.',
    param: 'request_id',
  },
} as const satisfies Record<string, ErrorDefinition>
