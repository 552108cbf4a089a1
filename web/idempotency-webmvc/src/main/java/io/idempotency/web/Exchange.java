package io.idempotency.web;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.Objects;

import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.GuardedAction.TransactionHandle;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.async.WebAsyncManager;
import org.springframework.web.context.request.async.WebAsyncUtils;

/**
 * One request and its response, in all dispatches. It provides the innermost wrapper of
 * the response, and the response of the guarded handler, if there was a guarded call.
 */
final class Exchange {

	private static final String ATTRIBUTE = Exchange.class.getName();

	private static final String OBSERVED = Exchange.class.getName() + ".observed";

	private final HttpSettings settings;

	private final boolean observed;

	private @Nullable BufferingResponse response;

	/** The servlet response that is rendered while its transaction may be open. */
	private @Nullable HttpServletResponse inside;

	/** The thread that renders it. */
	private @Nullable Thread maker;

	private @Nullable HandledResponse answer;

	private @Nullable IdempotentOperation made;

	private @Nullable IdempotencyKey key;

	private Exchange(HttpSettings settings, boolean observed) {
		this.settings = settings;
		this.observed = observed;
	}

	/**
	 * Returns the exchange of a request, {@code null} if the filter did not process the
	 * request.
	 */
	static @Nullable Exchange find(ServletRequest request) {
		return (Exchange) request.getAttribute(ATTRIBUTE);
	}

	/** Begins the exchange of a request. */
	static Exchange begin(ServletRequest request, HttpSettings settings) {
		Exchange exchange = new Exchange(settings, request.getAttribute(OBSERVED) != null);
		request.setAttribute(ATTRIBUTE, exchange);
		return exchange;
	}

	/**
	 * Creates the exception for a request that the filter did not wrap. Such a request
	 * must not run unprotected.
	 */
	static IllegalStateException missing(ServletRequest request, String aim) {
		if (GuardedRequestMatcher.disprove(request)) {
			return new IllegalStateException("Cannot " + aim
					+ ": no guarded handler was mapped to the method and path of "
					+ "the request, so the IdempotencyFilter did not wrap it. The guarded handler was not executed. From now on "
					+ "every request is wrapped. To prevent this failure, register mappings before the first request, order "
					+ "filters that change the method or path of a request before the IdempotencyFilter (see "
					+ "idempotency.http.filter-order), and do not include a guarded handler in an unguarded handler");
		}
		return new IllegalStateException("Cannot " + aim + ": the request did not pass the IdempotencyFilter. "
				+ "Register it as a filter for the dispatcher types REQUEST, ASYNC, ERROR and FORWARD. In a test "
				+ "with MockMvc, use @AutoConfigureMockMvc or addFilters(...)");
	}

	/** Records that a listener will report the end of the request. */
	static void observe(ServletRequest request) {
		request.setAttribute(OBSERVED, true);
	}

	/**
	 * Begins a dispatch.
	 * @return the response for the rest of the filter chain
	 */
	HttpServletResponse enter(HttpServletRequest request, HttpServletResponse given) {
		DispatcherType type = request.getDispatcherType();
		ClaimedResponse claimed = claimed();
		if (type == DispatcherType.ASYNC && claimed != null) {
			WebAsyncManager manager = WebAsyncUtils.getAsyncManager(request);
			if (manager.hasConcurrentResult()) {
				claimed.resumed(request, manager.getConcurrentResult());
			}
		}
		if (type != DispatcherType.FORWARD && wraps(given, this.response)) {
			return given;
		}
		// A forward gets a separate wrapper as the innermost one, because some containers
		// end the response without the outer wrapper.
		BufferingResponse next = new BufferingResponse(given);
		this.response = next;
		if (this.answer != null) {
			this.answer.moveTo(next, type);
		}
		return next;
	}

	private static boolean wraps(ServletResponse outer, @Nullable ServletResponse inner) {
		ServletResponse response = outer;
		while (inner != null && response != inner) {
			if (!(response instanceof ServletResponseWrapper wrapper)) {
				return false;
			}
			response = wrapper.getResponse();
		}
		return inner != null;
	}

	/**
	 * Caches the key of an operation that was created from one part before its guard
	 * runs.
	 */
	void made(IdempotentOperation operation, IdempotencyKey key) {
		this.made = operation;
		this.key = key;
	}

	/** Returns the cached key, {@code null} if it was created from other values. */
	@Nullable IdempotencyKey key(IdempotentOperation operation, Caller caller, List<String> parts) {
		IdempotencyKey known = this.key;
		return (known != null && this.made == operation && known.caller().equals(caller) && parts.size() == 1
				&& parts.get(0).equals(known.value())) ? known : null;
	}

	@Nullable BufferingResponse response() {
		return this.response;
	}

	/**
	 * Ends a dispatch.
	 * @param previous the innermost wrapper before the dispatch
	 * @param thrown the exception of the dispatch, {@code null} if it returned
	 * @return whether a response exists, even if the dispatch threw an exception
	 * @throws IOException if the response could not be sent
	 */
	boolean leave(ServletRequest request, @Nullable BufferingResponse previous, @Nullable Throwable thrown)
			throws IOException {
		if (thrown == null && request.isAsyncStarted()) {
			awaitAsync(request);
			return true;
		}
		try {
			return end(thrown);
		}
		finally {
			if (previous != null && request.getDispatcherType() == DispatcherType.FORWARD) {
				this.response = previous;
			}
		}
	}

	private boolean end(@Nullable Throwable thrown) throws IOException {
		if (this.answer == null || this.answer.response() != this.response) {
			return thrown == null;
		}
		if (thrown != null) {
			return this.answer.threw(thrown);
		}
		this.answer.finish();
		return true;
	}

	private void awaitAsync(ServletRequest request) {
		ClaimedResponse pending = claimed();
		if (pending == null || pending.response() != this.response) {
			return;
		}
		if (!WebAsyncUtils.getAsyncManager(request).isConcurrentHandlingStarted()) {
			pending.stream();
		}
		try {
			request.getAsyncContext().addListener(new EndOfAsync(pending));
		}
		catch (IllegalStateException ex) {
			// The request is already complete.
			pending.asyncCompleted();
		}
	}

	/**
	 * Renders a response. If the handler leaves its transaction open, the transaction
	 * ends here, before any part of the response is sent.
	 * @param <T> the part that still has to be rendered
	 * @param given the servlet response
	 * @param making renders the response, or returns the part that still has to be
	 * rendered
	 * @param again renders the result of work that was already done
	 * @return the part that still has to be rendered, or {@code null}
	 * @throws Exception the exception of the handler, of the rendering or of the commit
	 */
	<T> @Nullable T inside(HttpServletResponse given, Callable<@Nullable T> making, Again<T> again) throws Exception {
		try {
			return madeInside(given, making);
		}
		catch (Exception | Error thrown) {
			ClaimedResponse claimed = claimed();
			TransactionHandle uncommitted = (claimed != null) ? claimed.recoverable() : null;
			if (uncommitted == null) {
				throw thrown;
			}
			return again.render(recover(uncommitted, thrown));
		}
	}

	private static @Nullable Object recover(TransactionHandle work, Throwable failure) throws Exception {
		try {
			return work.recover(failure);
		}
		catch (Exception | Error thrown) {
			throw thrown;
		}
		catch (Throwable thrown) {
			throw new ServletException(thrown);
		}
	}

	private <T> @Nullable T madeInside(HttpServletResponse given, Callable<@Nullable T> making) throws Exception {
		HttpServletResponse outer = this.inside;
		this.inside = given;
		this.maker = Thread.currentThread();
		try {
			T toBeRendered = making.call();
			ClaimedResponse claimed = claimed();
			if (claimed != null) {
				claimed.madeInside(toBeRendered == null);
			}
			return toBeRendered;
		}
		catch (Exception | Error thrown) {
			ClaimedResponse claimed = claimed();
			if (claimed != null) {
				claimed.failedInside(thrown);
			}
			throw thrown;
		}
		finally {
			this.inside = outer;
		}
	}

	/**
	 * Returns whether all output of the current handler can be buffered here, and its
	 * transaction can end after the response is rendered. An inner wrapper might buffer
	 * part of the output. Another thread could not end the transaction.
	 */
	boolean isMadeInside() {
		return this.inside != null && this.inside == this.response && this.maker == Thread.currentThread();
	}

	/**
	 * Returns the response of the guarded call that is or was in progress, or
	 * {@code null}.
	 */
	@Nullable ClaimedResponse claimed() {
		return (this.answer instanceof ClaimedResponse claimed) ? claimed : null;
	}

	/** Returns whether a stored response was found, so that the handler must not run. */
	boolean isReplayed() {
		return this.answer instanceof HandledResponse.Replayed;
	}

	/**
	 * Returns whether the container already rejected the request, for example because a
	 * form or a part ended early. The handler would process an incomplete request, and
	 * its result would be stored.
	 */
	boolean isRejected() {
		BufferingResponse given = this.response;
		return given != null && given.isCommitted() && given.getStatus() >= HttpServletResponse.SC_BAD_REQUEST;
	}

	ClaimedResponse claimed(RecordingRequest request, OwnedClaim claim, IdempotencyEngine engine) {
		ClaimedResponse next = new ClaimedResponse(request, requireResponse(), claim, engine, this.settings,
				this.observed);
		this.answer = next;
		return next;
	}

	void recovered() {
		this.answer = new HandledResponse.Recovered(requireResponse(), this.settings);
	}

	/**
	 * Responds to the request with a stored response.
	 * @throws IdempotencyKeyReusedException if it is a partial response, and not the part
	 * that the request asks for
	 */
	void replayed(StoredResponse stored, HttpServletRequest request, String operation) {
		if (!stored.answers(RecordingRequest.headers(request, StoredResponse.RANGE))) {
			throw new IdempotencyKeyReusedException(operation);
		}
		this.answer = new HandledResponse.Replayed(requireResponse(), stored, this.settings);
	}

	private BufferingResponse requireResponse() {
		return Objects.requireNonNull(this.response, "The response is set when the filter starts");
	}

	/** Renders the response of a result. */
	interface Again<T> {

		@Nullable T render(@Nullable Object result) throws Exception;

	}

	/** Notifies the response if asynchronous processing ends without a dispatch. */
	private record EndOfAsync(ClaimedResponse response) implements AsyncListener {

		@Override
		public void onComplete(AsyncEvent event) {
			this.response.asyncCompleted();
		}

		@Override
		public void onTimeout(AsyncEvent event) {
			this.response.asyncCompleted();
		}

		@Override
		public void onError(AsyncEvent event) {
			this.response.asyncCompleted();
		}

		@Override
		public void onStartAsync(AsyncEvent event) {
			// The filter registers the listener again at the end of each dispatch.
		}

	}

}
