package io.idempotency.webflux;

import java.util.List;
import java.util.Map;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.codec.HttpMessageReader;
import org.springframework.http.codec.multipart.DefaultPartHttpMessageReader;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;

/**
 * Reads forms of requests whose body the guard has read: an exchange of Spring reads them
 * from the request that the server has made, which is empty by then.
 *
 * @param readers those of the application
 */
record FormReader(List<HttpMessageReader<?>> readers) {

	private static final ResolvableType FORM = ResolvableType.forClassWithGenerics(MultiValueMap.class, String.class,
			String.class);

	private static final ResolvableType MULTIPART = ResolvableType.forClassWithGenerics(MultiValueMap.class,
			String.class, Part.class);

	/**
	 * A body that was read has passed its own limit: nothing of it needs to be a file.
	 */
	private static final DefaultPartHttpMessageReader IN_MEMORY = new DefaultPartHttpMessageReader();

	static {
		IN_MEMORY.setMaxInMemorySize(-1);
	}

	/**
	 * Reads the parts without files and without another thread, in the order in which
	 * they were sent.
	 */
	static Flux<Part> parts(ServerHttpRequest request) {
		return IN_MEMORY.read(ResolvableType.forClass(Part.class), request, Map.of());
	}

	Mono<MultiValueMap<String, String>> form(ServerHttpRequest request) {
		return read(FORM, MediaType.APPLICATION_FORM_URLENCODED, request);
	}

	Mono<MultiValueMap<String, Part>> multipart(ServerHttpRequest request) {
		return read(MULTIPART, MediaType.MULTIPART_FORM_DATA, request);
	}

	@SuppressWarnings("unchecked")
	private <T> Mono<MultiValueMap<String, T>> read(ResolvableType type, MediaType known, ServerHttpRequest request) {
		MediaType sent = request.getHeaders().getContentType();
		boolean multipart = sent != null && known.getType().equals("multipart") && sent.getType().equals("multipart");
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
