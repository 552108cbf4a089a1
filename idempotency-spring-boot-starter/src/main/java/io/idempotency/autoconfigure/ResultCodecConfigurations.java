package io.idempotency.autoconfigure;

import io.idempotency.engine.ResultCodec;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What keeps the results of methods, where the application has no codec of its own. */
@Configuration(proxyBeanMethods = false)
class ResultCodecConfigurations {

	@Bean
	@ConditionalOnMissingBean
	ResultCodec idempotencyResultCodec() {
		return new VoidResultCodec();
	}

}
