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
 * Lets the guard of a handler see the body that the handler reads. The first reader may
 * be a message converter, a filter or the handler itself, or there may be no reader. For
 * handlers without a guard the body passes through.
 */
final class RecordingRequest extends HttpServletRequestWrapper {

	/** By which Tomcat tells of a form that it could not decode. */
	private static final String UNPARSED = "org.apache.catalina.parameter_parse_failed";

	private final HandlerOperationFinder operationFinder;

	private final long limit;

	/** Whether code that was not guarded had the request before. */
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
	 * Returns the recording request that a request wraps, {@code null} if the filter has
	 * not seen the request.
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
	 * Sends the held output when a handler starts asynchronous processing by hand. From
	 * then on the handler may write to the container's own response, and that output must
	 * come after its output to the wrapper.
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

	/** Returns whether the guard may ask for the body. */
	private static boolean mayNeedBody(IdempotentOperation operation) {
		return needsBody(operation) || operation.key().source() instanceof KeySource.Spel
				|| operation.fingerprint() instanceof FingerprintSource.Spel || operation.key().scope() != null
				|| operation.key().condition() != null;
	}

	/**
	 * Returns whether it is certain before the call that the call is guarded and that its
	 * guard asks for the body.
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
				// Over HTTP/2 a container may not notice that a part of the body is
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

	/** Returns the values of a header, in a list of its own only if there are many. */
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

	/** Returns the parts of the response that are asked for, empty for the whole. */
	List<String> range() {
		return headers(this, StoredResponse.RANGE);
	}

	/** Returns whether the container could not read the body to its end. */
	boolean isBroken() {
		return this.broken || this.stream != null && this.stream.isBroken();
	}

	/**
	 * Returns the whole body; later readers still get all of it.
	 * @return the bytes, not a copy
	 * @throws HttpMessageNotReadableException if the body could not be read
	 * @throws IdempotencyBodyTooLargeException if the body is over the limit
	 */
	ByteBuffer body() {
		try {
			return read().recorded();
		}
		catch (IOException ex) {
			// The failure looks like that of an argument of the handler, so the client is
			// told and not the operator.
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
	 * Returns whether the container has read a form or parts: of a form that cannot be
	 * decoded Tomcat makes no parameter, and says so by an attribute.
	 */
	private boolean isFormOfContainer() {
		ContentType type = ContentType.of(getContentType());
		return type == ContentType.MULTIPART || type == ContentType.FORM && getAttribute(UNPARSED) != null;
	}

	/**
	 * Returns whether a body is surely all that the client has sent. The code that had
	 * the request before may have read a part of it, or all of it as parameters.
	 */
	private boolean isWhole(int size) {
		long announced = getContentLengthLong();
		if (announced < 0) {
			return size == 0 && getHeader("Transfer-Encoding") == null && getProtocol().startsWith("HTTP/1");
		}
		return size == announced || size == 0 && isFormInParameters();
	}

	/**
	 * Returns whether there are more parameters than the query has. A dispatch with a
	 * query of its own adds that of the request before, which is not the body either.
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
	 * Returns the whole body, for whoever looks into it.
	 * @throws HttpMessageNotReadableException if the body could not be read
	 * @throws IdempotencyBodyTooLargeException if the body is over the limit
	 */
	CachedBody known() {
		if (this.known == null) {
			this.known = new CachedBody(body(), getContentType(), getCharacterEncoding());
		}
		return this.known;
	}

	/**
	 * Rejects a body whose known size is over the limit.
	 * @param size how many bytes the body has at least
	 * @throws IdempotencyBodyTooLargeException if the size is over the limit
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
	 * and its form has not been read yet. The form can still be read as a stream after
	 * that.
	 * @return the form as it was sent, empty if the container has read it
	 * @throws IdempotencyBodyTooLargeException if the body is over the limit
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
	 * Returns whether this class has added the fields of the form to the parameters, and
	 * none of them is malformed.
	 */
	boolean isFormRead() {
		return this.form != null && this.form.whole();
	}

	/** Returns whether a field may be left out of the parameters. */
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
	 * Asks the container for parameters. Where it has to read the body for them, some
	 * containers tell so that the body breaks off or is too large. What they tell of
	 * other requests is about the query.
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
