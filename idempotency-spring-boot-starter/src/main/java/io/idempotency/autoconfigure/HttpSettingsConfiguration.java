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
		return HttpSettings.DEFAULTS.change()
			.replayedHeader(http.replayedHeader())
			.maxRequestSize(http.maxRequestSize().toBytes())
			.maxResponseSize(http.maxResponseSize().toBytes())
			.releaseOn(http.releaseOn())
			.excludedHeaders(Set.copyOf(http.excludedHeaders()))
			.rawFingerprint(properties.fingerprint() == IdempotencyProperties.FingerprintType.RAW)
			.scope(properties.scope())
			.anonymousRefused(http.anonymous() == IdempotencyProperties.Http.Anonymous.REJECT)
			.scopeHeaders(Set.copyOf(http.scopeHeaders()))
			.fingerprintHeaders(Set.copyOf(http.fingerprintHeaders()))
			.ignoredParameters(Set.copyOf(http.ignoredParameters()))
			.problemTypeBase(http.problemTypeBase())
			.retentionOnError(http.retentionOnError())
			.tokenPath(properties.token().path())
			.build();
	}

}
