package io.idempotency.web;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.http.HttpEntity;
import org.springframework.http.MediaType;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.function.AsyncServerResponse;
import org.springframework.web.servlet.function.EntityResponse;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * Determines how Spring renders the result of a handler: at once, later, or as a stream.
 */
final class HandlerResult {

	private HandlerResult() {
	}

	/** Returns the object from which the body of a response is rendered. */
	public static @Nullable Object content(@Nullable Object result) {
		if (result instanceof EntityResponse<?> response) {
			return response.entity();
		}
		return (result instanceof HttpEntity<?> entity) ? entity.getBody() : result;
	}

	/** Returns whether the response is not available yet after the handler returned. */
	public static boolean goesOn(@Nullable Object content) {
		return content instanceof ResponseBodyEmitter || content instanceof DeferredResult
				|| content instanceof CompletionStage<?> || isTask(content) || isReactive(content);
	}

	/** Returns whether Spring subscribes to the content, or waits for it as a future. */
	public static boolean isReactive(@Nullable Object content) {
		return content != null && ReactiveAdapterRegistry.getSharedInstance().getAdapter(content.getClass()) != null;
	}

	/**
	 * Returns whether the response of a route is written in parts: events, or the values
	 * of a publisher. A response that is not available yet is checked when it is
	 * available.
	 */
	public static boolean isStream(@Nullable Object result) {
		if (!(result instanceof ServerResponse response)) {
			return false;
		}
		if (response instanceof AsyncServerResponse later) {
			return isThere(later) && isStream(later.block());
		}
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(null, content(response));
		return adapter != null && adapter.isMultiValue()
				|| MediaType.TEXT_EVENT_STREAM.equalsTypeAndSubtype(response.headers().getContentType());
	}

	/**
	 * Returns whether the response is available. Spring does not provide a method for
	 * this check.
	 */
	private static boolean isThere(AsyncServerResponse later) {
		try {
			later.statusCode();
			return true;
		}
		catch (IllegalStateException | CompletionException notYet) {
			return false;
		}
	}

	/**
	 * Returns whether Spring runs the content as a task. Some reactive types are also
	 * callable, and Spring subscribes to those.
	 */
	public static boolean isTask(@Nullable Object content) {
		return content instanceof Callable && !isReactive(content) || content instanceof WebAsyncTask
				|| content instanceof StreamingResponseBody;
	}

}
