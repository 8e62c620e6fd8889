"""Short texts in the languages that IFEval asks for, written for this project; no commas.

Each has six sentences or more, enough for a language identifier to be sure. Leaves out: English
(``phrases``).
"""

from __future__ import annotations

_NAMES = (
    "es Spanish|pt Portuguese|fr French|de German|it Italian|pl Polish|fi Finnish|sw Swahili|"
    "vi Vietnamese|ru Russian|uk Ukrainian|bg Bulgarian|ar Arabic|fa Persian|ur Urdu|he Hebrew|"
    "hi Hindi|mr Marathi|ne Nepali|bn Bengali|gu Gujarati|pa Punjabi|ta Tamil|te Telugu|"
    "kn Kannada|ml Malayalam|th Thai|ko Korean|ja Japanese"
)
NAMES = {pair[:2]: pair[3:] for pair in _NAMES.split("|")}
"""ISO 639-1 code -> English name."""

_TEXTS = {
    "es": """Hoy hace buen tiempo y la gente pasea por la calle.
Mi hermana trabaja en una escuela pequeña cerca del río.
Por la mañana tomamos café con leche y leemos el periódico.
Los niños juegan en el patio hasta que llega la noche.
Nunca es tarde para aprender algo nuevo.
La casa vieja tiene un jardín lleno de flores.
Quiero contarte una historia que escuché ayer en el mercado.
El tren sale muy temprano y siempre llega lleno.""",
    "pt": """Hoje o tempo está bom e as pessoas passeiam na rua.
A minha irmã trabalha em uma escola pequena perto do rio.
De manhã tomamos café com pão e lemos o jornal.
As crianças brincam no quintal até chegar a noite.
Nunca é tarde para aprender uma coisa nova.
A casa antiga tem um jardim cheio de flores.
Não sei quando eles vão voltar da viagem.
Ontem ouvi uma canção muito bonita no rádio.""",
    "fr": """Aujourd'hui il fait beau et les gens se promènent dans la rue.
Ma sœur travaille dans une petite école près de la rivière.
Le matin nous buvons du café et nous lisons le journal.
Les enfants jouent dans la cour jusqu'à la nuit.
Il n'est jamais trop tard pour apprendre quelque chose.
La vieille maison a un jardin plein de fleurs.
Je ne sais pas encore quand nous partirons en vacances.
Hier soir elle a préparé un très bon repas.""",
    "de": """Heute ist das Wetter schön und viele Leute gehen spazieren.
Meine Schwester arbeitet in einer kleinen Schule am Fluss.
Am Morgen trinken wir Kaffee und lesen die Zeitung.
Die Kinder spielen im Hof bis es dunkel wird.
Es ist nie zu spät etwas Neues zu lernen.
Das alte Haus hat einen Garten voller Blumen.
Ich weiß noch nicht wann wir in den Urlaub fahren.
Gestern Abend hat er ein sehr gutes Essen gekocht.""",
    "it": """Oggi il tempo è bello e la gente passeggia per strada.
Mia sorella lavora in una piccola scuola vicino al fiume.
La mattina beviamo il caffè e leggiamo il giornale.
I bambini giocano nel cortile finché non arriva la notte.
Non è mai troppo tardi per imparare qualcosa di nuovo.
La vecchia casa ha un giardino pieno di fiori.
Non so ancora quando partiremo per le vacanze.
Ieri sera ha preparato una cena molto buona.""",
    "pl": """Dzisiaj jest ładna pogoda i ludzie spacerują po ulicy.
Moja siostra pracuje w małej szkole niedaleko rzeki.
Rano pijemy kawę i czytamy gazetę.
Dzieci bawią się na podwórku aż do wieczora.
Nigdy nie jest za późno na naukę czegoś nowego.
Stary dom ma ogród pełen kwiatów.
Jeszcze nie wiem kiedy pojedziemy na wakacje.""",
    "fi": """Tänään on kaunis sää ja ihmiset kävelevät kadulla.
Siskoni työskentelee pienessä koulussa joen lähellä.
Aamulla juomme kahvia ja luemme sanomalehteä.
Lapset leikkivät pihalla iltaan asti.
Koskaan ei ole liian myöhäistä oppia uutta.
Vanhassa talossa on puutarha täynnä kukkia.
En vielä tiedä milloin lähdemme lomalle.""",
    "sw": """Leo hali ya hewa ni nzuri na watu wanatembea barabarani.
Dada yangu anafanya kazi katika shule ndogo karibu na mto.
Asubuhi tunakunywa chai na kusoma gazeti.
Watoto wanacheza uwanjani mpaka usiku unapofika.
Hujachelewa kamwe kujifunza jambo jipya.
Nyumba ya zamani ina bustani yenye maua mengi.
Sijui bado tutaondoka lini kwenda likizo.""",
    "vi": """Hôm nay trời đẹp và mọi người đi dạo trên đường phố.
Chị tôi làm việc ở một trường học nhỏ gần con sông.
Buổi sáng chúng tôi uống cà phê và đọc báo.
Trẻ em chơi trong sân cho đến khi trời tối.
Không bao giờ là quá muộn để học điều mới.
Ngôi nhà cũ có một khu vườn đầy hoa.
Tôi chưa biết khi nào chúng tôi sẽ đi nghỉ.""",
    "ru": """Сегодня хорошая погода и люди гуляют по улице.
Моя сестра работает в маленькой школе возле реки.
Утром мы пьём кофе и читаем газету.
Дети играют во дворе до самого вечера.
Никогда не поздно научиться чему-то новому.
У старого дома есть сад и в нём много цветов.
Я ещё не знаю когда мы поедем в отпуск.
Вчера вечером он приготовил очень вкусный ужин.""",
    "uk": """Сьогодні гарна погода і люди гуляють вулицею.
Моя сестра працює в маленькій школі біля річки.
Вранці ми п'ємо каву і читаємо газету.
Діти граються на подвір'ї до самого вечора.
Ніколи не пізно навчитися чогось нового.
Біля старого будинку є сад і в ньому багато квітів.
Я ще не знаю коли ми поїдемо у відпустку.""",
    "bg": """Днес времето е хубаво и хората се разхождат по улицата.
Сестра ми работи в малко училище близо до реката.
Сутрин пием кафе и четем вестник.
Децата играят на двора докато се стъмни.
Никога не е късно да научиш нещо ново.
Старата къща има градина пълна с цветя.
Още не знам кога ще отидем на почивка.""",
    "ar": """الطقس جميل اليوم والناس يمشون في الشارع.
تعمل أختي في مدرسة صغيرة قرب النهر.
في الصباح نشرب القهوة ونقرأ الجريدة.
يلعب الأطفال في الساحة حتى يأتي الليل.
لم يفت الأوان أبدا لتعلم شيء جديد.
للبيت القديم حديقة مليئة بالزهور.
لا أعرف بعد متى سنسافر في العطلة.""",
    "fa": """امروز هوا خوب است و مردم در خیابان قدم می‌زنند.
خواهرم در یک مدرسه کوچک نزدیک رودخانه کار می‌کند.
صبح‌ها چای می‌نوشیم و روزنامه می‌خوانیم.
بچه‌ها تا شب در حیاط بازی می‌کنند.
هیچ وقت برای یاد گرفتن چیزهای تازه دیر نیست.
خانه قدیمی باغی پر از گل دارد.
هنوز نمی‌دانم چه زمانی به سفر خواهیم رفت.""",
    "ur": """آج موسم اچھا ہے اور لوگ سڑک پر چل رہے ہیں۔
میری بہن دریا کے قریب ایک چھوٹے سکول میں کام کرتی ہے۔
صبح ہم چائے پیتے ہیں اور اخبار پڑھتے ہیں۔
بچے رات تک صحن میں کھیلتے رہتے ہیں۔
نئی بات سیکھنے کے لیے کبھی دیر نہیں ہوتی۔
پرانے گھر میں پھولوں سے بھرا ہوا ایک باغ ہے۔
مجھے ابھی معلوم نہیں کہ ہم چھٹیوں پر کب جائیں گے۔""",
    "he": """היום מזג האוויר נעים ואנשים מטיילים ברחוב.
אחותי עובדת בבית ספר קטן ליד הנהר.
בבוקר אנחנו שותים קפה וקוראים עיתון.
הילדים משחקים בחצר עד שמגיע הלילה.
אף פעם לא מאוחר ללמוד משהו חדש.
לבית הישן יש גינה מלאה פרחים.
אני עדיין לא יודע מתי ניסע לחופשה.""",
    "hi": """आज मौसम अच्छा है और लोग सड़क पर टहल रहे हैं।
मेरी बहन नदी के पास एक छोटे स्कूल में काम करती है।
सुबह हम चाय पीते हैं और अखबार पढ़ते हैं।
बच्चे रात होने तक आँगन में खेलते रहते हैं।
कुछ नया सीखने के लिए कभी देर नहीं होती है।
पुराने घर में फूलों से भरा हुआ एक बगीचा है।
मुझे अभी नहीं पता कि हम छुट्टी पर कब जाएंगे।""",
    "mr": """आज हवामान चांगले आहे आणि लोक रस्त्यावर फिरत आहेत.
माझी बहीण नदीजवळच्या एका लहान शाळेत काम करते.
सकाळी आम्ही चहा पितो आणि वर्तमानपत्र वाचतो.
मुले रात्र होईपर्यंत अंगणात खेळत असतात.
काहीतरी नवीन शिकण्यासाठी कधीही उशीर झालेला नसतो.
जुन्या घराला फुलांनी भरलेली एक बाग आहे.
आम्ही सुट्टीवर कधी जाणार हे मला अजून माहीत नाही.""",
    "ne": """आज मौसम राम्रो छ र मानिसहरू सडकमा हिँडिरहेका छन्।
मेरी बहिनी नदी नजिकैको सानो विद्यालयमा काम गर्छिन्।
बिहान हामी चिया पिउँछौं र पत्रिका पढ्छौं।
केटाकेटीहरू रात नपरुन्जेल आँगनमा खेल्छन्।
नयाँ कुरा सिक्न कहिल्यै ढिलो हुँदैन।
पुरानो घरमा फूलहरूले भरिएको एउटा बगैंचा छ।
हामी कहिले बिदामा जान्छौं भनेर मलाई अझै थाहा छैन।""",
    "bn": """আজ আবহাওয়া ভালো এবং মানুষ রাস্তায় হাঁটছে।
আমার বোন নদীর কাছে একটি ছোট স্কুলে কাজ করে।
সকালে আমরা চা খাই এবং খবরের কাগজ পড়ি।
শিশুরা রাত হওয়া পর্যন্ত উঠানে খেলা করে।
নতুন কিছু শেখার জন্য কখনও দেরি হয় না।
পুরানো বাড়িতে ফুলে ভরা একটি বাগান আছে।
আমরা কবে ছুটিতে যাব তা আমি এখনও জানি না।""",
    "gu": """આજે હવામાન સારું છે અને લોકો રસ્તા પર ફરી રહ્યા છે.
મારી બહેન નદી પાસેની એક નાની શાળામાં કામ કરે છે.
સવારે અમે ચા પીએ છીએ અને છાપું વાંચીએ છીએ.
બાળકો રાત પડે ત્યાં સુધી આંગણામાં રમે છે.
કંઈક નવું શીખવા માટે ક્યારેય મોડું થતું નથી.
જૂના ઘરમાં ફૂલોથી ભરેલો એક બગીચો છે.
અમે રજા પર ક્યારે જઈશું તે મને હજી ખબર નથી.""",
    "pa": """ਅੱਜ ਮੌਸਮ ਚੰਗਾ ਹੈ ਅਤੇ ਲੋਕ ਸੜਕ ਉੱਤੇ ਤੁਰ ਰਹੇ ਹਨ।
ਮੇਰੀ ਭੈਣ ਨਦੀ ਦੇ ਨੇੜੇ ਇੱਕ ਛੋਟੇ ਸਕੂਲ ਵਿੱਚ ਕੰਮ ਕਰਦੀ ਹੈ।
ਸਵੇਰੇ ਅਸੀਂ ਚਾਹ ਪੀਂਦੇ ਹਾਂ ਅਤੇ ਅਖਬਾਰ ਪੜ੍ਹਦੇ ਹਾਂ।
ਬੱਚੇ ਰਾਤ ਤੱਕ ਵਿਹੜੇ ਵਿੱਚ ਖੇਡਦੇ ਹਨ।
ਕੁਝ ਨਵਾਂ ਸਿੱਖਣ ਲਈ ਕਦੇ ਦੇਰ ਨਹੀਂ ਹੁੰਦੀ।
ਪੁਰਾਣੇ ਘਰ ਵਿੱਚ ਫੁੱਲਾਂ ਨਾਲ ਭਰਿਆ ਇੱਕ ਬਾਗ ਹੈ।
ਮੈਨੂੰ ਅਜੇ ਪਤਾ ਨਹੀਂ ਕਿ ਅਸੀਂ ਛੁੱਟੀ ਉੱਤੇ ਕਦੋਂ ਜਾਵਾਂਗੇ।""",
    "ta": """இன்று வானிலை நன்றாக இருக்கிறது மக்கள் தெருவில் நடக்கிறார்கள்.
என் சகோதரி ஆற்றின் அருகே ஒரு சிறிய பள்ளியில் வேலை செய்கிறாள்.
காலையில் நாங்கள் தேநீர் குடித்து செய்தித்தாள் படிக்கிறோம்.
குழந்தைகள் இரவு வரும் வரை முற்றத்தில் விளையாடுகிறார்கள்.
புதிய ஒன்றைக் கற்றுக்கொள்ள எப்போதும் தாமதம் இல்லை.
பழைய வீட்டில் பூக்கள் நிறைந்த ஒரு தோட்டம் உள்ளது.""",
    "te": """ఈ రోజు వాతావరణం బాగుంది మరియు ప్రజలు వీధిలో నడుస్తున్నారు.
నా సోదరి నది దగ్గర ఒక చిన్న పాఠశాలలో పని చేస్తుంది.
ఉదయం మేము టీ తాగుతాము మరియు వార్తాపత్రిక చదువుతాము.
పిల్లలు రాత్రి అయ్యే వరకు పెరట్లో ఆడుకుంటారు.
కొత్త విషయం నేర్చుకోవడానికి ఎప్పుడూ ఆలస్యం కాదు.
పాత ఇంట్లో పూలతో నిండిన ఒక తోట ఉంది.""",
    "kn": """ಇಂದು ಹವಾಮಾನ ಚೆನ್ನಾಗಿದೆ ಮತ್ತು ಜನರು ಬೀದಿಯಲ್ಲಿ ನಡೆಯುತ್ತಿದ್ದಾರೆ.
ನನ್ನ ಸಹೋದರಿ ನದಿಯ ಹತ್ತಿರದ ಒಂದು ಚಿಕ್ಕ ಶಾಲೆಯಲ್ಲಿ ಕೆಲಸ ಮಾಡುತ್ತಾಳೆ.
ಬೆಳಿಗ್ಗೆ ನಾವು ಚಹಾ ಕುಡಿಯುತ್ತೇವೆ ಮತ್ತು ಪತ್ರಿಕೆ ಓದುತ್ತೇವೆ.
ಮಕ್ಕಳು ರಾತ್ರಿಯಾಗುವವರೆಗೆ ಅಂಗಳದಲ್ಲಿ ಆಡುತ್ತಾರೆ.
ಹೊಸದನ್ನು ಕಲಿಯಲು ಎಂದಿಗೂ ತಡವಾಗುವುದಿಲ್ಲ.
ಹಳೆಯ ಮನೆಯಲ್ಲಿ ಹೂವುಗಳಿಂದ ತುಂಬಿದ ಒಂದು ತೋಟವಿದೆ.""",
    "ml": """ഇന്ന് കാലാവസ്ഥ നല്ലതാണ് ആളുകൾ തെരുവിലൂടെ നടക്കുന്നു.
എന്റെ സഹോദരി നദിക്കടുത്തുള്ള ഒരു ചെറിയ സ്കൂളിൽ ജോലി ചെയ്യുന്നു.
രാവിലെ ഞങ്ങൾ ചായ കുടിക്കുകയും പത്രം വായിക്കുകയും ചെയ്യുന്നു.
കുട്ടികൾ രാത്രി വരെ മുറ്റത്ത് കളിക്കുന്നു.
പുതിയ കാര്യങ്ങൾ പഠിക്കാൻ ഒരിക്കലും വൈകിയിട്ടില്ല.
പഴയ വീട്ടിൽ പൂക്കൾ നിറഞ്ഞ ഒരു തോട്ടമുണ്ട്.""",
    "th": """วันนี้อากาศดีและผู้คนเดินเล่นบนถนน
พี่สาวของฉันทำงานในโรงเรียนเล็กๆ ใกล้แม่น้ำ
ตอนเช้าเราดื่มกาแฟและอ่านหนังสือพิมพ์
เด็กๆ เล่นอยู่ในสนามจนถึงกลางคืน
ไม่มีคำว่าสายเกินไปที่จะเรียนรู้สิ่งใหม่
บ้านเก่ามีสวนที่เต็มไปด้วยดอกไม้
ฉันยังไม่รู้ว่าเราจะไปเที่ยวเมื่อไร""",
    "ko": """오늘은 날씨가 좋아서 사람들이 거리를 걷고 있습니다.
제 여동생은 강 근처의 작은 학교에서 일합니다.
아침에는 커피를 마시고 신문을 읽습니다.
아이들은 밤이 될 때까지 마당에서 놉니다.
새로운 것을 배우기에 너무 늦은 때는 없습니다.
오래된 집에는 꽃이 가득한 정원이 있습니다.
우리가 언제 휴가를 떠날지 아직 모르겠습니다.""",
    "ja": """今日は天気がよくて人々が通りを歩いています。
私の妹は川の近くの小さな学校で働いています。
朝はコーヒーを飲みながら新聞を読みます。
子どもたちは夜になるまで庭で遊びます。
新しいことを学ぶのに遅すぎることはありません。
古い家には花でいっぱいの庭があります。
いつ旅行に出かけるのかまだ分かりません。""",
}


def sentences_of(code: str) -> tuple[str, ...]:
    """Return the sentences of a language; () when there are none."""
    return tuple(_TEXTS.get(code, "").split("\n")) if code in _TEXTS else ()
