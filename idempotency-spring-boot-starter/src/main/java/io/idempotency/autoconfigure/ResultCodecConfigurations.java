package io.idempotency.autoconfigure;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * What keeps the results of methods, where the application has no codec of its own. The
 * first that applies wins: Jackson 3 unless the application's mapper is one of Jackson 2,
 * then Jackson 2, then nothing but "done".
 */
@Configuration(proxyBeanMethods = false)
@Import({ Jackson3CodecConfiguration.class, Jackson2CodecConfiguration.class, VoidCodecConfiguration.class })
class ResultCodecConfigurations {

}
