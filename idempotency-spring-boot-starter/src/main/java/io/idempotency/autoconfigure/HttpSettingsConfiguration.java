package io.idempotency.autoconfigure;

import java.util.Set;

import io.idempotency.Internal;
import io.idempotency.http.HttpSettings;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Declares the settings of guarded requests on both stacks.
 *
 * @hidden
 */
@Internal
@Configuration(proxyBeanMethods = false)
public class HttpSettingsConfiguration {

	@Bean
	HttpSettings idempotencyHttpSettings(IdempotencyProperties properties) {
		IdempotencyProperties.Http http = properties.http();
		return new HttpSettings(http.replayedHeader(), http.maxRequestSize().toBytes(),
				http.maxResponseSize().toBytes(), HttpSettings.statusCodes(http.releaseOn()),
				Set.copyOf(http.excludedHeaders()),
				properties.fingerprint() == IdempotencyProperties.FingerprintType.RAW, properties.scope(),
				http.anonymous() == IdempotencyProperties.Http.Anonymous.REJECT, Set.copyOf(http.scopeHeaders()),
				Set.copyOf(http.fingerprintHeaders()), Set.copyOf(http.ignoredParameters()), http.problemTypeBase(),
				http.retentionOnError(), properties.token().path());
	}

}
