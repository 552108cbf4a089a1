package io.idempotency.it.http;

/**
 * Scenarios whose first answer is replayed byte for byte, and the status they answer
 * with.
 */
enum KeptAnswers {

	POJO("/answers/pojo", 200), RECORD("/answers/record", 200), NULL_BODY("/answers/null-body", 200),
	BYTES("/answers/bytes", 200), RESOURCE("/answers/resource", 200), TEXT("/answers/text", 200),
	NUMBER("/answers/number", 200), FALSE("/answers/false", 200), CREATED("/answers/created", 201),
	CONTENT_LENGTH("/answers/content-length", 200), NO_CONTENT("/answers/no-content", 204), VIEW("/answers/view", 200),
	REDIRECT("/answers/redirect", 302), SEND_REDIRECT("/answers/send-redirect", 302), FORWARD("/answers/forward", 200),
	WRITER("/answers/writer", 200), WRITER_DEFAULT_CHARSET("/answers/writer-default-charset", 200),
	STREAM("/answers/stream", 200), LOCALE("/answers/locale", 200),
	HANDLER_CACHE_CONTROL("/answers/handler-cache-control", 200), COOKIE("/answers/cookie", 200),
	EXCEPTION_HANDLER("/answers/exception-handler", 422),
	RESPONSE_STATUS_EXCEPTION("/answers/response-status-exception", 409), SEND_ERROR("/answers/send-error", 409),
	LIST("/answers/list", 200), FUTURE_DONE("/async/future-done", 200), FUTURE("/async/future", 200),
	FUTURE_FAILED("/async/future-failed", 422), CALLABLE("/async/callable", 201),
	WEB_ASYNC_TASK("/async/web-async-task", 200), DEFERRED("/async/deferred", 200),
	DEFERRED_ERROR("/async/deferred-error", 410), MONO("/async/mono", 200),
	STREAMING_BODY("/async/streaming-body", 200), CALLABLE_STREAMING_BODY("/async/callable-streaming-body", 200),
	CALLABLE_STREAMING_ENTITY("/async/callable-streaming-entity", 201),
	WEB_ASYNC_TASK_STREAMING_BODY("/async/web-async-task-streaming-body", 200),
	DEFERRED_STREAMING_ENTITY("/async/deferred-streaming-entity", 201),
	FUTURE_STREAMING_ENTITY("/async/future-streaming-entity", 201), NOT_FOUND_BY_HANDLER("/failures/status/404", 404),
	BAD_REQUEST_BY_HANDLER("/failures/status/400", 400), CONFLICT_BY_HANDLER("/failures/status/409", 409),
	REMEMBERED_STATUS("/failures/remembered-status", 503),
	REMEMBERED_RESPONSE_STATUS("/failures/remembered-response-status", 502);

	final String path;

	final int status;

	KeptAnswers(String path, int status) {
		this.path = path;
		this.status = status;
	}

}
