package io.idempotency.web;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyMode;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.http.StoredResponse;
import io.idempotency.http.CachedBody.ContentType;
import io.idempotency.http.FormData;
import io.idempotency.http.FormData.FormParameters;
import io.idempotency.http.CachedBody;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;

import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.web.util.WebUtils;

/**
 * Records the body that the handler reads for the guard of the handler. The first reader
 * may be a message converter, a filter or the handler itself, or the body is not read.
 * For unguarded handlers the body passes through.
 */
final class RecordingRequest extends HttpServletRequestWrapper {

	/** The attribute with which Tomcat reports a form that it could not decode. */
	private static final String UNPARSED = "org.apache.catalina.parameter_parse_failed";

	private final HandlerOperationFinder operationFinder;

	private final long limit;

	/** Whether unguarded code processed the request before. */
	private final boolean late;

	private @Nullable RecordingInputStream stream;

	private @Nullable BufferedReader reader;

	private @Nullable FormParameters form;

	private @Nullable CachedBody known;

	private volatile boolean broken;

	RecordingRequest(HttpServletRequest request, HandlerOperationFinder operationFinder, long limit) {
		super(request);
		this.operationFinder = operationFinder;
		this.limit = limit;
		this.late = GuardedRequestMatcher.hasPassed(request);
	}

	/**
	 * Returns the recording request that a request wraps, {@code null} if the filter did
	 * not process the request.
	 */
	static @Nullable RecordingRequest find(ServletRequest request) {
		return WebUtils.getNativeRequest(request, RecordingRequest.class);
	}

	@Override
	public AsyncContext startAsync() {
		beforeAsync();
		return super.startAsync();
	}

	@Override
	public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
		beforeAsync();
		return super.startAsync(request, response);
	}

	/**
	 * Sends the buffered output when a handler starts asynchronous processing itself.
	 * After that the handler may write to the container's response, and that output must
	 * follow its output to the wrapper.
	 */
	private void beforeAsync() {
		Exchange exchange = Exchange.find(this);
		ClaimedResponse claimed = (exchange != null) ? exchange.claimed() : null;
		if (claimed != null && IdempotencyContext.current().isPresent()) {
			claimed.stream();
		}
	}

	@Override
	public ServletInputStream getInputStream() throws IOException {
		RecordingInputStream body = stream();
		if (HandlerOperationFinder.isMapped(this) && !HandlerOperationFinder.mayReachRoute(this)) {
			IdempotentOperation operation = this.operationFinder.of(this);
			if (operation == null || !mayNeedBody(operation)) {
				body.stopRecording();
			}
			else if (willNeedBody(operation, this)) {
				// The body is read here and not after its binding, so that a body that is
				// too large is never parsed.
				read();
			}
		}
		return body;
	}

	/** Returns whether the guard may read the body. */
	private static boolean mayNeedBody(IdempotentOperation operation) {
		return needsBody(operation) || operation.key().source() instanceof KeySource.Spel
				|| operation.fingerprint() instanceof FingerprintSource.Spel || operation.key().scope() != null
				|| operation.key().condition() != null;
	}

	/**
	 * Returns whether it is certain before the call that the call is guarded and its
	 * guard reads the body.
	 */
	private static boolean willNeedBody(IdempotentOperation operation, HttpServletRequest request) {
		return needsBody(operation) && operation.key().condition() == null
				&& (operation.key().required() || hasKeyHeader(operation, request));
	}

	private static boolean needsBody(IdempotentOperation operation) {
		boolean compared = operation.options().mode() == IdempotencyMode.REPLAY
				&& operation.fingerprint() instanceof FingerprintSource.Default;
		return compared || operation.key().source() instanceof KeySource.Body;
	}

	private static boolean hasKeyHeader(IdempotentOperation operation, HttpServletRequest request) {
		return operation.key().source() instanceof KeySource.Header header && request.getHeader(header.name()) != null;
	}

	@Override
	public BufferedReader getReader() throws IOException {
		if (this.reader == null) {
			String encoding = getCharacterEncoding();
			ServletInputStream body = getInputStream();
			this.reader = new BufferedReader((encoding != null) ? new InputStreamReader(body, encoding)
					: new InputStreamReader(body, StandardCharsets.ISO_8859_1));
		}
		return this.reader;
	}

	private RecordingInputStream stream() throws IOException {
		if (this.stream == null) {
			try {
				// With HTTP/2, some containers do not detect that a part of the body is
				// missing.
				boolean checked = getProtocol().startsWith("HTTP/2") && !ContentType.of(getContentType()).isForm();
				this.stream = new RecordingInputStream(super.getInputStream(), this.limit, getContentLengthLong(),
						checked);
			}
			catch (IllegalStateException readAsText) {
				throw this.late ? Exchange.missing(this, "use the body of the request, which was read before")
						: readAsText;
			}
		}
		return this.stream;
	}

	/** Returns the values of a header. Only several values are copied to a new list. */
	static List<String> headers(HttpServletRequest request, String name) {
		Enumeration<String> values = request.getHeaders(name);
		if (!values.hasMoreElements()) {
			return List.of();
		}
		List<String> one = Collections.singletonList(values.nextElement());
		if (!values.hasMoreElements()) {
			return one;
		}
		List<String> all = new ArrayList<>(one);
		values.asIterator().forEachRemaining(all::add);
		return all;
	}

	/** Returns the requested ranges of the response, empty for the whole response. */
	List<String> range() {
		return headers(this, StoredResponse.RANGE);
	}

	/** Returns whether the container could not read the body to its end. */
	boolean isBroken() {
		return this.broken || this.stream != null && this.stream.isBroken();
	}

	/**
	 * Returns the whole body. Later readers still receive all of it.
	 * @return the bytes, not a copy
	 * @throws HttpMessageNotReadableException if the body could not be read
	 * @throws IdempotencyBodyTooLargeException if the body exceeds the limit
	 */
	ByteBuffer body() {
		try {
			return read().recorded();
		}
		catch (IOException ex) {
			// The failure is reported like that of a handler argument, so the client is
			// notified and an error is not logged.
			throw unreadable("The body of the request could not be read", ex);
		}
	}

	private HttpMessageNotReadableException unreadable(String problem, Exception cause) {
		return new HttpMessageNotReadableException(problem, cause, new ServletServerHttpRequest(this));
	}

	private RecordingInputStream read() throws IOException {
		requireSize(getContentLengthLong());
		RecordingInputStream body = stream();
		if (!body.readAhead()) {
			throw tooLarge();
		}
		int size = body.recorded().remaining();
		boolean usedUp = size == 0 && getContentLengthLong() > 0 && !isFormOfContainer();
		if ((this.late || usedUp) && !isWhole(size)) {
			throw Exchange.missing(this, "use the body of the request, which was read before");
		}
		return body;
	}

	/**
	 * Returns whether the container read a form or parts. Tomcat creates no parameters
	 * for a form that cannot be decoded, and sets an attribute.
	 */
	private boolean isFormOfContainer() {
		ContentType type = ContentType.of(getContentType());
		return type == ContentType.MULTIPART || type == ContentType.FORM && getAttribute(UNPARSED) != null;
	}

	/**
	 * Returns whether a body certainly contains everything that the client sent. Code
	 * that processed the request before may have read a part of it, or all of it as
	 * parameters.
	 */
	private boolean isWhole(int size) {
		long announced = getContentLengthLong();
		if (announced < 0) {
			return size == 0 && getHeader("Transfer-Encoding") == null && getProtocol().startsWith("HTTP/1");
		}
		return size == announced || size == 0 && isFormInParameters();
	}

	/**
	 * Returns whether there are more parameters than the query contains. A dispatch with
	 * another query adds the parameters of the previous query, which do not come from the
	 * body either.
	 */
	private boolean isFormInParameters() {
		if (getDispatcherType() != DispatcherType.REQUEST && getQueryString() != null
				&& !getQueryString().equals(getAttribute(RequestDispatcher.FORWARD_QUERY_STRING))) {
			return false;
		}
		FormData query = FormData.parse(getQueryString(), StandardCharsets.UTF_8);
		return ContentType.of(getContentType()) == ContentType.FORM && query.whole()
				&& super.getParameterMap().values()
					.stream()
					.mapToInt((values) -> values.length)
					.sum() > query.values().values().stream().mapToInt(List::size).sum();
	}

	/**
	 * Returns the whole body for lookups and comparisons.
	 * @throws HttpMessageNotReadableException if the body could not be read
	 * @throws IdempotencyBodyTooLargeException if the body exceeds the limit
	 */
	CachedBody known() {
		if (this.known == null) {
			this.known = new CachedBody(body(), getContentType(), getCharacterEncoding());
		}
		return this.known;
	}

	/**
	 * Rejects a body whose known size exceeds the limit.
	 * @param size the minimum size in bytes of the body
	 * @throws IdempotencyBodyTooLargeException if the size exceeds the limit
	 */
	void requireSize(long size) {
		if (size > this.limit) {
			throw tooLarge();
		}
	}

	private IdempotencyBodyTooLargeException tooLarge() {
		IdempotentOperation handler = this.operationFinder.of(this);
		String operation = (handler != null) ? handler.name() : getRequestURI();
		return new IdempotencyBodyTooLargeException(operation, this.limit);
	}

	/**
	 * Adds the fields of a URL-encoded form to the parameters, if the request is a POST
	 * and its form was not read yet. After that, the form can still be read as a stream.
	 * @return the form as it was sent, empty if the container read it
	 * @throws IdempotencyBodyTooLargeException if the body exceeds the limit
	 */
	ByteBuffer readForm() {
		ByteBuffer body = body();
		if (body.hasRemaining() && this.form == null && "POST".equals(getMethod())) {
			try {
				String encoding = getCharacterEncoding();
				Charset charset = (encoding != null) ? Charset.forName(encoding) : StandardCharsets.UTF_8;
				this.form = FormParameters.of(charset.decode(body.duplicate()).toString(), charset, getQueryString(),
						super.getParameterMap());
			}
			catch (IllegalArgumentException ex) {
				throw unreadable("The form could not be read", ex);
			}
		}
		return body;
	}

	/**
	 * Returns whether this class added the fields of the form to the parameters, and all
	 * fields are well-formed.
	 */
	boolean isFormRead() {
		return this.form != null && this.form.whole();
	}

	/** Returns whether a field may be missing in the parameters. */
	boolean isFormMalformed() {
		return (this.form != null) ? !this.form.whole() : getAttribute(UNPARSED) != null;
	}

	@Override
	public @Nullable String getParameter(String name) {
		if (this.form == null) {
			return parameters(() -> super.getParameter(name));
		}
		String[] values = this.form.values().get(name);
		return (values != null) ? values[0] : null;
	}

	@Override
	public Map<String, String[]> getParameterMap() {
		return (this.form != null) ? this.form.values() : parameters(super::getParameterMap);
	}

	@Override
	public Enumeration<String> getParameterNames() {
		return (this.form != null) ? Collections.enumeration(this.form.values().keySet())
				: parameters(super::getParameterNames);
	}

	@Override
	public String @Nullable [] getParameterValues(String name) {
		return (this.form != null) ? this.form.values().get(name) : parameters(() -> super.getParameterValues(name));
	}

	/**
	 * Reads parameters from the container. If the container reads the body for them, some
	 * containers report that the body is incomplete or too large. For other requests,
	 * their failures concern the query.
	 */
	private <T extends @Nullable Object> T parameters(Supplier<T> container) {
		try {
			return container.get();
		}
		catch (RuntimeException ex) {
			this.broken |= ContentType.of(getContentType()).isForm();
			throw ex;
		}
	}

}
