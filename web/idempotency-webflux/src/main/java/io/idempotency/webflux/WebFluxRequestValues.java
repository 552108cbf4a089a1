package io.idempotency.webflux;

import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

import io.idempotency.IdempotencyMode;
import io.idempotency.http.FormData;
import io.idempotency.http.FormData.FormParameters;
import io.idempotency.http.CachedBody;
import io.idempotency.http.CachedBody.ContentType;
import io.idempotency.http.RequestFingerprint.ComparedRequest;
import io.idempotency.http.RequestFingerprint.RequestPart;
import io.idempotency.http.StoredResponse;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.http.HttpHeaders;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.security.web.server.csrf.CsrfToken;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebInputException;

/** The request values that keys and fingerprints read. For one call. */
final class WebFluxRequestValues implements ComparedRequest {

	/**
	 * Number of dispatch values. A servlet request without dispatches has as many absent
	 * values, because nodes of both stacks share records.
	 */
	private static final int DISPATCHES = 8;

	private final ServerWebExchange exchange;

	private final CachedRequest request;

	private final IdempotentOperation operation;

	private final @Nullable Principal principal;

	private final List<RequestPart> parts = new ArrayList<>();

	private final Map<String, List<String>> fields = new TreeMap<>();

	private @Nullable ByteBuffer body;

	private @Nullable CachedBody known;

	private @Nullable FormParameters form;

	private @Nullable String csrfParameter;

	/**
	 * Creates the values.
	 * @param exchange the exchange, whose request is recorded
	 */
	WebFluxRequestValues(ServerWebExchange exchange, CachedRequest request, IdempotentOperation operation,
			@Nullable Principal principal) {
		this.exchange = exchange;
		this.request = request;
		this.operation = operation;
		this.principal = principal;
	}

	ServerWebExchange exchange() {
		return this.exchange;
	}

	private ServerHttpRequest request() {
		return this.exchange.getRequest();
	}

	/** Returns whether the guard itself reads the body. */
	static boolean needsBody(IdempotentOperation operation) {
		return operation.readsBody() || operation.reads("param") || operation.options().recoverable()
				|| operation.options().mode() == IdempotencyMode.REPLAY
						&& operation.fingerprint() instanceof FingerprintSource.Default;
	}

	/** Reads the body, the form and the parts, if they are needed. */
	Mono<Void> read() {
		return !needsBody(this.operation) ? Mono.empty() : this.request.read(this.operation.name()).flatMap((bytes) -> {
			this.body = bytes;
			this.known = new CachedBody(bytes, contentType(), null);
			ContentType type = ContentType.of(contentType());
			if (type == ContentType.FORM) {
				readForm(bytes);
			}
			this.request.parts().forEach((part) -> add(part.getKey(), part.getValue()));
			this.parts.sort(Comparator.comparing(RequestPart::name));
			return type.isForm() ? readCsrfParameter() : Mono.empty();
		});
	}

	private void readForm(ByteBuffer bytes) {
		Charset charset = this.request.charset();
		Map<String, String[]> inQuery = new LinkedHashMap<>();
		queryParameters().forEach((name, values) -> inQuery.put(name, values.toArray(String[]::new)));
		try {
			// Spring trims the fields.
			String fields = String.join("&",
					StringUtils.tokenizeToStringArray(charset.decode(bytes.duplicate()).toString(), "&"));
			this.form = FormParameters.of(fields, charset, query(), inQuery);
		}
		catch (IllegalArgumentException ex) {
			throw new ServerWebInputException("The form could not be read", null, ex);
		}
	}

	private void add(Part part, byte[] bytes) {
		String fileName = (part instanceof FilePart file) ? file.filename() : null;
		this.parts.add(new RequestPart(part.name(), fileName, part.headers().getFirst(HttpHeaders.CONTENT_TYPE),
				bytes.length, () -> new ByteArrayInputStream(bytes)));
		if (fileName == null) {
			this.fields.computeIfAbsent(part.name(), (name) -> new ArrayList<>())
				.add(new String(bytes, StandardCharsets.UTF_8));
		}
	}

	private Mono<Void> readCsrfParameter() {
		return Csrf.SPRING_SECURITY ? Csrf.parameter(this.exchange).doOnNext((name) -> this.csrfParameter = name).then()
				: Mono.empty();
	}

	@Override
	public @Nullable String header(String name) {
		return request().getHeaders().getFirst(name);
	}

	@Override
	public List<String> headers(String name) {
		return WebFluxCallerResolver.headers(request(), name);
	}

	@Override
	public @Nullable String param(String name) {
		List<String> values = parameters().get(name);
		return (values != null && !values.isEmpty()) ? FormData.field(values.subList(0, 1), true) : null;
	}

	@Override
	public @Nullable Object body(String pointer) {
		return ContentType.of(contentType()).isForm() ? field(pointer) : requireBody().find(pointer);
	}

	private CachedBody requireBody() {
		if (this.known == null) {
			throw new IllegalStateException("The body was not read");
		}
		return this.known;
	}

	private @Nullable String field(String name) {
		return FormData.field(parameters().get(name), this.form == null || this.form.whole());
	}

	@Override
	public @Nullable Principal principal() {
		return this.principal;
	}

	@Override
	public String method() {
		return request().getMethod().name();
	}

	@Override
	public String path() {
		return request().getURI().getRawPath();
	}

	@Override
	public void dispatches(Consumer<@Nullable String> values) {
		for (int i = 0; i < DISPATCHES; i++) {
			values.accept(null);
		}
	}

	@Override
	public @Nullable String query() {
		return request().getURI().getRawQuery();
	}

	@Override
	public @Nullable String contentType() {
		return header(HttpHeaders.CONTENT_TYPE);
	}

	@Override
	public @Nullable String characterEncoding() {
		return null;
	}

	@Override
	public long contentLength() {
		return request().getHeaders().getContentLength();
	}

	@Override
	public @Nullable String csrfParameter() {
		return this.csrfParameter;
	}

	@Override
	public Map<String, List<String>> parameters() {
		Map<String, List<String>> all = new TreeMap<>();
		if (this.form != null) {
			this.form.values().forEach((name, values) -> all.put(name, Arrays.asList(values)));
			return all;
		}
		all.putAll(queryParameters());
		this.fields.forEach((name, values) -> all.merge(name, values, (inQuery, inForm) -> {
			List<String> both = new ArrayList<>(inQuery);
			both.addAll(inForm);
			return both;
		}));
		return all;
	}

	private Map<String, List<String>> queryParameters() {
		return FormData.parse(query(), StandardCharsets.UTF_8).values();
	}

	@Override
	public List<RequestPart> parts() {
		return this.parts;
	}

	@Override
	public ByteBuffer body() {
		return (this.body != null) ? this.body.duplicate() : StoredResponse.NO_BODY;
	}

	@Override
	public ByteBuffer form() {
		return body();
	}

	@Override
	public boolean isFormRead() {
		return this.form != null && this.form.whole();
	}

	@Override
	public boolean compareJson(Consumer<ByteBuffer> form) {
		return requireBody().compare(form);
	}

	@Override
	public void requireSize(long size) {
		this.request.requireSize(size, this.operation.name());
	}

	/**
	 * Provides the CSRF parameter of Spring Security, whose value differs on each page.
	 */
	private static final class Csrf {

		private static final boolean SPRING_SECURITY = ClassUtils
			.isPresent("org.springframework.security.web.server.csrf.CsrfToken", Csrf.class.getClassLoader());

		static Mono<String> parameter(ServerWebExchange exchange) {
			return Token.parameter(exchange);
		}

		/** Loaded only if Spring Security is present. */
		private static final class Token {

			static Mono<String> parameter(ServerWebExchange exchange) {
				Mono<CsrfToken> token = exchange.getAttribute(CsrfToken.class.getName());
				return (token != null) ? token.map(CsrfToken::getParameterName) : Mono.empty();
			}

		}

	}

}
