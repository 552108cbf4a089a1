package io.idempotency.webflux;

import java.io.ByteArrayInputStream;
import java.io.IOException;
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
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.interceptor.GuardFaultException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.http.StoredResponse;
import io.idempotency.http.RequestFingerprint.ComparedRequest;
import io.idempotency.http.KnownBody.ContentType;
import io.idempotency.http.FormData;
import io.idempotency.http.FormData.FormParameters;
import io.idempotency.http.KnownBody;
import io.idempotency.http.RequestFingerprint.RequestPart;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.security.web.server.csrf.CsrfToken;
import org.springframework.util.ClassUtils;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchange;

/**
 * A request of which everything is known that its guard may ask for, so that nobody has
 * to wait for it. For the calls of one request, which come one after the other.
 */
final class KnownRequest implements RequestValues, ComparedRequest {

	/**
	 * A request of a servlet that was dispatched nowhere tells so many absent values: a
	 * node of each stack can answer for the other one.
	 */
	private static final int DISPATCHES = 8;

	private final ServerWebExchange exchange;

	private final IdempotentOperation operation;

	private final @Nullable Principal principal;

	private final long limit;

	private @Nullable KnownBody known;

	private @Nullable ByteBuffer body;

	private boolean multipart;

	private @Nullable FormParameters form;

	private List<RequestPart> parts = List.of();

	private Map<String, List<String>> fields = Map.of();

	private @Nullable String csrfParameter;

	private volatile boolean gone;

	private final Sinks.Empty<Void> hungUp = Sinks.empty();

	KnownRequest(ServerWebExchange exchange, IdempotentOperation operation, @Nullable Principal principal, long limit) {
		this.exchange = exchange;
		this.operation = operation;
		this.principal = principal;
		this.limit = limit;
	}

	ServerWebExchange exchange() {
		return this.exchange;
	}

	IdempotentOperation operation() {
		return this.operation;
	}

	private ServerHttpRequest request() {
		return this.exchange.getRequest();
	}

	/**
	 * Reads the body, unless it was read before.
	 * @return this request; fails if the body is over the limit
	 */
	Mono<KnownRequest> read() {
		if (this.body != null) {
			return Mono.just(this);
		}
		return Bodies.read(request(), this.limit, this::tooLarge)
			// Netty gives nothing the second time, or refuses.
			.onErrorResume(IllegalStateException.class, this::readBefore)
			.flatMap((bytes) -> bytes.hasRemaining() ? hasRead(bytes) : readBefore(null).flatMap(this::hasRead));
	}

	/**
	 * Makes the body of a form again that code in front of the guard has read, as Spring
	 * Security does: the exchange keeps what was made of it. Nothing is left of another
	 * body that was read.
	 */
	private Mono<ByteBuffer> readBefore(@Nullable Throwable refused) {
		long declared = contentLength();
		if (declared == 0) {
			return Mono.just(StoredResponse.NO_BODY);
		}
		Mono<ByteBuffer> left = switch (ContentType.of(contentType())) {
			case FORM -> this.exchange.getFormData().map((fields) -> Bodies.form(fields, charset()));
			case MULTIPART -> this.exchange.getMultipartData().flatMap(this::multipart);
			case JSON, OTHER -> Mono.empty();
		};
		boolean missing = declared > 0 || refused != null;
		return left.filter(ByteBuffer::hasRemaining)
			.doOnNext((bytes) -> requireSize(bytes.remaining()))
			.switchIfEmpty(missing ? Mono.error(() -> noneLeft(refused)) : Mono.just(StoredResponse.NO_BODY));
	}

	private Mono<ByteBuffer> multipart(MultiValueMap<String, Part> all) {
		String boundary = mediaType().getParameter("boundary");
		return Flux.fromStream(all.values().stream().flatMap(List::stream))
			.concatMap((part) -> bytes(part).map((bytes) -> Map.entry(part.headers(), bytes)))
			.collectList()
			.map((known) -> Bodies.multipart(known, String.valueOf(boundary).replace("\"", "")));
	}

	private GuardFaultException noneLeft(@Nullable Throwable refused) {
		return new GuardFaultException("The body of a request of '" + this.operation.name() + "' is not there: "
				+ "something in front of the guard has read it, or its client is gone. Who reads a body there has to "
				+ "pass on a request that gives it again (a ServerHttpRequestDecorator)", refused);
	}

	private MediaType mediaType() {
		MediaType type = request().getHeaders().getContentType();
		return (type != null) ? type : MediaType.ALL;
	}

	private Charset charset() {
		Charset charset = mediaType().getCharset();
		return (charset != null) ? charset : StandardCharsets.UTF_8;
	}

	private Mono<KnownRequest> hasRead(ByteBuffer bytes) {
		this.body = bytes;
		this.known = new KnownBody(bytes, contentType(), null);
		ContentType type = ContentType.of(contentType());
		this.multipart = type == ContentType.MULTIPART;
		return switch (type) {
			case FORM -> {
				readForm(bytes);
				yield readCsrfParameter();
			}
			case MULTIPART -> readParts().then(Mono.defer(this::readCsrfParameter));
			case JSON, OTHER -> Mono.just(this);
		};
	}

	/** Returns whether the body was read, and has parts. */
	boolean isMultipart() {
		return this.multipart;
	}

	private void readForm(ByteBuffer bytes) {
		Charset charset = charset();
		Map<String, String[]> inQuery = new LinkedHashMap<>();
		queryParameters().forEach((name, values) -> inQuery.put(name, values.toArray(String[]::new)));
		this.form = FormParameters.of(charset.decode(bytes.duplicate()).toString(), charset, query(), inQuery);
	}

	private Mono<Void> readParts() {
		return Bodies.parts(readable())
			.concatMap((part) -> bytes(part).doOnNext((bytes) -> add(part, bytes)))
			.then()
			.doOnSuccess((nothing) -> this.parts = this.parts.stream()
				.sorted(Comparator.comparing(RequestPart::name))
				.toList());
	}

	private static Mono<byte[]> bytes(Part part) {
		return DataBufferUtils.join(part.content()).map((buffer) -> {
			try {
				byte[] bytes = new byte[buffer.readableByteCount()];
				buffer.read(bytes);
				return bytes;
			}
			finally {
				DataBufferUtils.release(buffer);
			}
		}).defaultIfEmpty(new byte[0]);
	}

	private void add(Part part, byte[] bytes) {
		List<RequestPart> all = new ArrayList<>(this.parts);
		String fileName = (part instanceof FilePart file) ? file.filename() : null;
		all.add(new RequestPart(part.name(), fileName, part.headers().getFirst(HttpHeaders.CONTENT_TYPE), bytes.length,
				() -> new ByteArrayInputStream(bytes)));
		this.parts = all;
		if (fileName == null) {
			Map<String, List<String>> known = new TreeMap<>(this.fields);
			List<String> values = new ArrayList<>(known.getOrDefault(part.name(), List.of()));
			values.add(new String(bytes, StandardCharsets.UTF_8));
			known.put(part.name(), values);
			this.fields = known;
		}
	}

	private Mono<KnownRequest> readCsrfParameter() {
		return Csrf.SPRING_SECURITY
				? Csrf.parameter(this.exchange).doOnNext((name) -> this.csrfParameter = name).thenReturn(this)
				: Mono.just(this);
	}

	/**
	 * Returns the exchange for one way through the handler, whose body can be read as
	 * often as there are ways.
	 */
	ServerHttpRequest readable() {
		ByteBuffer bytes = this.body;
		return (bytes != null) ? new ReadRequest(request(), bytes) : new UnreadRequest(request());
	}

	/** Notes that the client has hung up. */
	void clientIsGone() {
		this.gone = true;
		this.hungUp.tryEmitEmpty();
	}

	/** Completes when the client has hung up. */
	Mono<Void> whenClientIsGone() {
		return this.hungUp.asMono();
	}

	/**
	 * Fails if a body that has ended cannot be whole. A server that loses a connection
	 * throws away what nobody has read, and gives that for the end of the body.
	 */
	private <T> Mono<T> requireWhole(long read) {
		HttpHeaders headers = request().getHeaders();
		boolean cut = (headers.getContentLength() >= 0) ? read < headers.getContentLength()
				: read == 0 && this.gone && headers.getFirst(HttpHeaders.TRANSFER_ENCODING) != null;
		return cut ? Mono.error(new IOException("The client hung up before its body was read")) : Mono.empty();
	}

	/** Returns the form of a request that is read by its handler alone. */
	Mono<MultiValueMap<String, String>> whole(Mono<MultiValueMap<String, String>> form) {
		return form.flatMap((fields) -> (fields.isEmpty() && ContentType.of(contentType()) == ContentType.FORM)
				? this.<MultiValueMap<String, String>>requireWhole(0).defaultIfEmpty(fields) : Mono.just(fields));
	}

	boolean isRead() {
		return this.body != null;
	}

	private IdempotencyBodyTooLargeException tooLarge() {
		return new IdempotencyBodyTooLargeException(this.operation.name(),
				"The body may have at most " + this.limit + " bytes: send less");
	}

	/** Returns the parts of the answer that are asked for, empty for the whole. */
	List<String> range() {
		return headers(StoredResponse.RANGE);
	}

	/**
	 * Returns whether bytes of the path or of a parameter were replaced when they were
	 * decoded. Two keys that differ in such bytes only would be one.
	 */
	boolean isLossy() {
		return FormData.isLossy(request().getURI().getPath()) || FormData.isLossy(parameters());
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
		return (values != null && !values.isEmpty()) ? values.get(0) : null;
	}

	@Override
	public @Nullable Object body(String pointer) {
		return switch (ContentType.of(contentType())) {
			case FORM, MULTIPART -> field(pointer);
			case JSON, OTHER -> requireBody().find(pointer);
		};
	}

	private KnownBody requireBody() {
		if (this.known == null) {
			throw new IllegalStateException("The body was not read");
		}
		return this.known;
	}

	private @Nullable String field(String name) {
		List<String> values = parameters().getOrDefault(name, List.of());
		if (values.size() > 1) {
			throw new IllegalArgumentException("The field was sent " + values.size() + " times");
		}
		return values.isEmpty() ? null : values.get(0);
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
		String query = query();
		Map<String, List<String>> parsed = (query != null) ? FormData.parse(query, StandardCharsets.UTF_8) : Map.of();
		return (parsed != null) ? parsed : Map.of();
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
		return this.form != null && this.form.complete();
	}

	@Override
	public boolean compareJson(Consumer<ByteBuffer> form) {
		return requireBody().compare(form);
	}

	@Override
	public void requireSize(long size) {
		if (size > this.limit) {
			throw tooLarge();
		}
	}

	/** Knows the parameter of Spring Security, whose value is another on each page. */
	private static final class Csrf {

		private static final boolean SPRING_SECURITY = ClassUtils
			.isPresent("org.springframework.security.web.server.csrf.CsrfToken", KnownRequest.class.getClassLoader());

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

	/** A request whose body only the handler reads. */
	private final class UnreadRequest extends ServerHttpRequestDecorator {

		UnreadRequest(ServerHttpRequest request) {
			super(request);
		}

		@Override
		public Flux<DataBuffer> getBody() {
			return Flux.defer(() -> {
				AtomicLong read = new AtomicLong();
				return super.getBody().doOnNext((buffer) -> read.addAndGet(buffer.readableByteCount()))
					.concatWith(Mono.defer(() -> requireWhole(read.get())));
			});
		}

	}

	/** A request whose body was read. */
	private static final class ReadRequest extends ServerHttpRequestDecorator {

		private final ByteBuffer bytes;

		ReadRequest(ServerHttpRequest request, ByteBuffer bytes) {
			super(request);
			this.bytes = bytes;
		}

		@Override
		public Flux<DataBuffer> getBody() {
			return Flux.defer(() -> this.bytes.hasRemaining() ? Flux.just(Bodies.buffer(this.bytes)) : Flux.empty());
		}

	}

}
