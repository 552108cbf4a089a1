package io.idempotency.webflux;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.codec.HttpMessageReader;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchangeDecorator;

/**
 * The exchange of one way through a guarded handler: the body of its request was read,
 * and its answer is held back.
 */
final class GuardedExchange extends ServerWebExchangeDecorator {

	private final ServerHttpRequest request;

	private final HeldResponse response;

	private final KnownRequest known;

	private final boolean read;

	private final FormReader readers;

	private volatile @Nullable Mono<MultiValueMap<String, String>> form;

	private volatile @Nullable Mono<MultiValueMap<String, Part>> parts;

	private volatile @Nullable MultiValueMap<String, Part> readParts;

	GuardedExchange(KnownRequest request, long maxResponseSize, FormReader readers) {
		super(request.exchange());
		this.known = request;
		this.request = request.readable();
		this.response = new HeldResponse(request.exchange().getResponse(), maxResponseSize, request.whenClientIsGone());
		this.read = request.isRead();
		this.readers = readers;
	}

	@Override
	public ServerHttpRequest getRequest() {
		return this.request;
	}

	@Override
	public ServerHttpResponse getResponse() {
		return this.response;
	}

	/** Spring answers the three on the response of the server, which is not held back. */
	@Override
	public boolean checkNotModified(Instant lastModified) {
		boolean notModified = super.checkNotModified(lastModified);
		this.response.adoptConditions();
		return notModified;
	}

	@Override
	public boolean checkNotModified(String etag) {
		boolean notModified = super.checkNotModified(etag);
		this.response.adoptConditions();
		return notModified;
	}

	@Override
	public boolean checkNotModified(@Nullable String etag, Instant lastModified) {
		boolean notModified = super.checkNotModified(etag, lastModified);
		this.response.adoptConditions();
		return notModified;
	}

	/** Returns whether a way may leave files of parts behind. */
	boolean mayHaveFiles() {
		return this.known.isMultipart();
	}

	HeldResponse held() {
		return this.response;
	}

	@Override
	public Mono<MultiValueMap<String, String>> getFormData() {
		if (!this.read) {
			return this.known.whole(super.getFormData());
		}
		Mono<MultiValueMap<String, String>> once = this.form;
		if (once == null) {
			once = Mono.defer(() -> this.readers.form(this.request)).cache();
			this.form = once;
		}
		return once;
	}

	@Override
	public Mono<MultiValueMap<String, Part>> getMultipartData() {
		if (!this.read) {
			return super.getMultipartData();
		}
		Mono<MultiValueMap<String, Part>> once = this.parts;
		if (once == null) {
			once = Mono.defer(() -> this.readers.multipart(this.request))
				.doOnNext((all) -> this.readParts = all)
				.cache();
			this.parts = once;
		}
		return once;
	}

	/** Deletes the files of the parts that were read here. */
	@Override
	public Mono<Void> cleanupMultipart() {
		MultiValueMap<String, Part> all = this.readParts;
		return (all == null) ? Mono.empty()
				: Flux.fromIterable(all.values())
					.concatMapIterable((parts) -> parts)
					.concatMap((part) -> part.delete().onErrorComplete())
					.then();
	}

	/**
	 * Reads forms of requests whose body the guard has read: an exchange of Spring reads
	 * them from the request that the server has made, which is empty by then.
	 *
	 * @param readers those of the application
	 */
	record FormReader(List<HttpMessageReader<?>> readers) {

		private static final ResolvableType FORM = ResolvableType.forClassWithGenerics(MultiValueMap.class,
				String.class, String.class);

		private static final ResolvableType MULTIPART = ResolvableType.forClassWithGenerics(MultiValueMap.class,
				String.class, Part.class);

		Mono<MultiValueMap<String, String>> form(ServerHttpRequest request) {
			return read(FORM, MediaType.APPLICATION_FORM_URLENCODED, request);
		}

		Mono<MultiValueMap<String, Part>> multipart(ServerHttpRequest request) {
			return read(MULTIPART, MediaType.MULTIPART_FORM_DATA, request);
		}

		@SuppressWarnings("unchecked")
		private <T> Mono<MultiValueMap<String, T>> read(ResolvableType type, MediaType known,
				ServerHttpRequest request) {
			MediaType sent = request.getHeaders().getContentType();
			boolean multipart = sent != null && known.getType().equals("multipart")
					&& sent.getType().equals("multipart");
			Mono<MultiValueMap<String, T>> nothing = Mono.fromSupplier(LinkedMultiValueMap::new);
			if (sent == null || !multipart && !known.isCompatibleWith(sent)) {
				return nothing;
			}
			for (HttpMessageReader<?> reader : this.readers) {
				if (reader.canRead(type, sent)) {
					return ((HttpMessageReader<MultiValueMap<String, T>>) reader).readMono(type, request, Map.of())
						.switchIfEmpty(nothing);
				}
			}
			return nothing;
		}

	}

}
