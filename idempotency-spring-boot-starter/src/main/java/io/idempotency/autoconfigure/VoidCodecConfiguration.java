package io.idempotency.autoconfigure;

import io.idempotency.engine.ResultCodec;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * No JSON library: answers of controllers can be kept all the same, results of methods
 * not.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(ResultCodec.class)
class VoidCodecConfiguration {

	@Bean
	VoidResultCodec idempotencyResultCodec() {
		return new VoidResultCodec();
	}

}
