package io.idempotency.it.webflux;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.Rights;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.ResolvableType;
import org.springframework.core.codec.AbstractDataBufferDecoder;
import org.springframework.core.codec.StringDecoder;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpEntity;
import org.springframework.http.MediaType;
import org.springframework.http.codec.DecoderHttpMessageReader;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.util.MimeType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.config.WebFluxConfigurer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What reads bodies for the application may verify them, whichever handler they are for.
 */
class EarlyReplayWithReaderTests {

	private static final MediaType SIGNED = MediaType.parseMediaType("application/signed");

	private final String key = UUID.randomUUID().toString();

	@ParameterizedTest
	@ValueSource(strings = { "reader", "decoder" })
	void callerWhoHasLostItsRightsSeesNoReplay(String reads) {
		try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
			.registerShutdownHook(false)
			.run("--server.port=0", "--reads=" + reads)) {
			Rights rights = application.getBean(Rights.class);
			Client client = new Client(
					application.getEnvironment().getRequiredProperty("local.server.port", int.class));
			for (String path : new String[] { "/body", "/entity" }) {
				Answer first = send(client, path);
				assertThat(first.status()).as(path).isEqualTo(200);
				rights.give(false);
				Answer denied = send(client, path);
				assertThat(denied.status()).as(path).isEqualTo(403);
				assertThat(denied.text()).doesNotContain(first.text());
				rights.give(true);
				assertThat(send(client, path).replayed()).as(path).isTrue();
			}
			send(client, "/no-body?text=one");
			assertThat(send(client, "/no-body?text=one").replayed()).isTrue();
		}
	}

	private Answer send(Client client, String path) {
		return client.post(path, this.key, SIGNED.toString(), "one");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Handlers.class, Rights.class })
	static class Application {

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable).build();
		}

		@Bean
		WebFluxConfigurer codecs(Rights rights, @Value("${reads}") String reads) {
			return new WebFluxConfigurer() {

				@Override
				public void configureHttpMessageCodecs(ServerCodecConfigurer configurer) {
					configurer.customCodecs()
						.register(reads.equals("reader") ? new SignedReader(rights) : new SignedDecoder(rights));
				}

			};
		}

	}

	/** Spring decodes what it has verified. */
	static class SignedReader extends DecoderHttpMessageReader<String> {

		private final Rights rights;

		SignedReader(Rights rights) {
			super(StringDecoder.allMimeTypes());
			this.rights = rights;
		}

		@Override
		public boolean canRead(ResolvableType type, @Nullable MediaType mediaType) {
			return SIGNED.equals(mediaType) && super.canRead(type, mediaType);
		}

		@Override
		public Mono<String> readMono(ResolvableType actualType, ResolvableType elementType, ServerHttpRequest request,
				ServerHttpResponse response, Map<String, Object> hints) {
			this.rights.require();
			return super.readMono(actualType, elementType, request, response, hints);
		}

	}

	/** Spring's reader calls it. */
	static class SignedDecoder extends AbstractDataBufferDecoder<String> {

		private final Rights rights;

		SignedDecoder(Rights rights) {
			super(SIGNED);
			this.rights = rights;
		}

		@Override
		public boolean canDecode(ResolvableType type, @Nullable MimeType mimeType) {
			return type.resolve() == String.class && super.canDecode(type, mimeType);
		}

		@Override
		public String decode(DataBuffer buffer, ResolvableType type, @Nullable MimeType mimeType,
				@Nullable Map<String, Object> hints) {
			this.rights.require();
			return buffer.toString(StandardCharsets.UTF_8);
		}

	}

	@RestController
	static class Handlers {

		@Idempotent
		@PostMapping("/body")
		public Mono<String> read(@RequestBody String body) {
			return Mono.just("read " + body);
		}

		@Idempotent
		@PostMapping("/entity")
		public Mono<String> read(HttpEntity<String> entity) {
			return Mono.just("read " + entity.getBody());
		}

		@Idempotent
		@PostMapping("/no-body")
		public Mono<String> take(@RequestParam String text) {
			return Mono.just("taken " + text);
		}

	}

}
